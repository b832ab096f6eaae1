import type { BlobStore } from '@rookery/bus';
import type { Journal } from '@rookery/journal';
import { type ConversationTables, conversationProjection } from '@rookery/kernel';
import { limits, seqOf, toAppError } from '@rookery/protocol';
import { type AppliedBatch, openReadModel, type ReadModel, type ReadModelState } from '@rookery/read-model';
import { logError, projectorEntry, type ServiceConfig } from '@rookery/service';
import type { CommitSource } from './events/commit-source.ts';
import { Gate } from './events/gate.ts';
import { EventHub } from './events/hub.ts';
import { journalSource } from './events/journal-source.ts';
import { lastMatchBefore } from './events/last-match.ts';

/** Characters of events that stay in memory, beside their number. */
const RING_CHARS = 16 * 1024 * 1024;
const MAX_WAITING = 256;

export interface Feed {
  model: ReadModel<ConversationTables>;
  hub: EventHub;
  source: CommitSource;
  /** Readers of the journal at a time. */
  gate: Gate;
}

export interface FeedPorts {
  config: ServiceConfig;
  journal: Journal;
  blobs: BlobStore;
  world: () => string;
  onApplied: (batch: AppliedBatch) => void;
  onState: (state: ReadModelState) => void;
}

/** Opens the read model and the fan-out of what it applies; resolves when both are level with the journal. */
export async function openFeed(ports: FeedPorts): Promise<Feed> {
  const { config, journal, blobs, world } = ports;
  const early: AppliedBatch[] = [];
  let take = (batch: AppliedBatch): void => void early.push(batch);
  const model = await openReadModel<ConversationTables>({
    dir: config.folder,
    projection: conversationProjection,
    workerEntry: projectorEntry(),
    connection: { url: config.natsUrl, user: 'gateway', seed: config.nkeySeed, name: `${config.instance} read model` },
    timings: config.timings,
    onState: ports.onState,
    onApplied: (batch) => {
      ports.onApplied(batch);
      take(batch);
    },
  });
  const source = journalSource({ journal, blobs, model, world });
  const gate = new Gate(limits.replayConsumers, MAX_WAITING);
  const hub = new EventHub({
    source,
    searchBack: (filter, beforeSeq) => gate.run(() => lastMatchBefore(source, filter, beforeSeq)),
    ringEvents: limits.replayRing,
    ringChars: RING_CHARS,
    onDelay: (error) => logError(config.log, 'a long text cannot be fetched; events wait for it', toAppError(error)),
  });
  for (const batch of early) hub.ingest(batch);
  take = (batch) => hub.ingest(batch);
  await beginAtLevel(model, hub, source);
  return { model, hub, source, gate };
}

/** Where the events in memory begin is known only when the read model is level. */
async function beginAtLevel(model: ReadModel<ConversationTables>, hub: EventHub, source: CommitSource): Promise<void> {
  try {
    await model.level();
  } catch {
    // Its state says why, and every request is refused with that.
    return;
  }
  const first = hub.firstWaiting;
  const streamSeq = first === null ? model.appliedSeq() : first - 1;
  hub.start({ streamSeq, latestSeq: await lastMatchBefore(source, null, seqOf(streamSeq + 1, 0)) });
  await hub.idle();
}
