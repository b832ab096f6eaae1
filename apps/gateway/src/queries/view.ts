import type { ConversationTables } from '@rookery/kernel';
import { streamSeqOf } from '@rookery/protocol';
import type { Reader, ReadModel } from '@rookery/read-model';
import type { EventHub } from '../events/hub.ts';
import type { SeenSeq } from '../rpc/call.ts';

export type ConversationReader = Reader<ConversationTables>;

export interface View {
  world: () => string;
  model: ReadModel<ConversationTables>;
  hub: EventHub;
}

const OWN_WRITES_MS = 2000;

/**
 * Reads at one moment that includes the caller's own acknowledged commands, and says which moment it was: snapshotSeq is
 * the seq of the last conversation event in it. SERVICE_UNAVAILABLE where the caller's commands are not applied in 2 s.
 */
export async function readAt<T extends object>(
  view: View,
  seen: SeenSeq,
  query: (reader: ConversationReader) => T,
): Promise<T & { snapshotSeq: number }> {
  if (seen.seq > 0) await view.model.waitFor(streamSeqOf(seen.seq), OWN_WRITES_MS);
  const { result, appliedSeq } = view.model.read((reader) => ({
    result: query(reader),
    appliedSeq: appliedSeqOf(reader),
  }));
  // The file can be a moment ahead of the events: then their last one is known when they have come.
  await view.model.waitFor(appliedSeq, OWN_WRITES_MS);
  await view.hub.idle();
  return { ...result, snapshotSeq: view.hub.latestAt(appliedSeq) };
}

function appliedSeqOf(reader: ConversationReader): number {
  return reader.prepare<[], { applied_seq: number }>('SELECT applied_seq FROM checkpoint').get()?.applied_seq ?? 0;
}
