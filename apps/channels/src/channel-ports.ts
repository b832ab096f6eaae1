import type { BlobStore } from '@rookery/bus';
import { externalizeBlobs, type Journal } from '@rookery/journal';
import type { Commit, Timings } from '@rookery/protocol';
import { type Attempt, appendDecided } from '@rookery/read-model';
import type { Logger } from '@rookery/service';
import { inOrder } from './in-order.ts';
import type { Db, Model } from './model.ts';

/** More than elsewhere: all deliveries of a chat share its subject, so a conflict between instances is nothing unusual. */
const ATTEMPTS = 8;

/** What the parts of the service work on. */
export interface ChannelPorts {
  homeId: string;
  instance: string;
  model: Model;
  blobs: BlobStore;
  timings: Timings;
  log: Logger;
  now(): Date;
  /** Decides on a channel's subject and appends, one decision at a time; long texts go to the blobs of the thread. */
  append<R>(subject: string, threadId: string, attempt: (db: Db) => Attempt<R>): Promise<R>;
}

/** Completes the ports with the journal that commits go to. */
export function channelPorts(journal: Journal, rest: Omit<ChannelPorts, 'append'>): ChannelPorts {
  const { model, blobs, timings, now } = rest;
  const queue = inOrder();
  return {
    ...rest,
    append(subject, threadId, attempt) {
      const externalize = (commit: Commit) => externalizeBlobs(commit, blobs, threadId);
      const { conflictWaitMs } = timings;
      const on = { journal, model, subject, conflictWaitMs, now, externalize, attempts: ATTEMPTS };
      return queue(subject, () => appendDecided(on, attempt));
    },
  };
}
