import type { BlobStore } from '@rookery/bus';
import { externalizeBlobs, type Journal } from '@rookery/journal';
import type { Timings } from '@rookery/protocol';
import type { Logger } from '@rookery/service';
import type { Subject } from './append-decided.ts';
import type { Model } from './model.ts';

/** What the parts of the service work on. */
export interface ChannelPorts {
  homeId: string;
  instance: string;
  model: Model;
  blobs: BlobStore;
  timings: Timings;
  log: Logger;
  now(): Date;
  /** Where a decision about a channel's subject is made; long texts go to the blobs of the thread. */
  on(subject: string, threadId: string): Subject;
}

/** Completes the ports with the journal that commits go to. */
export function channelPorts(journal: Journal, rest: Omit<ChannelPorts, 'on'>): ChannelPorts {
  return {
    ...rest,
    on: (subject, threadId) => ({
      journal,
      model: rest.model,
      subject,
      conflictWaitMs: rest.timings.conflictWaitMs,
      now: rest.now,
      externalize: (commit) => externalizeBlobs(commit, rest.blobs, threadId),
    }),
  };
}
