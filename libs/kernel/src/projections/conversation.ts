import type { EventType, StoredCommit } from '@rookery/protocol';
import { conversationDdl } from './conversation/ddl.ts';
import * as items from './conversation/item-events.ts';
import * as runs from './conversation/run-events.ts';
import { type Handler, placeOf, scopeOf } from './conversation/scope.ts';
import * as threads from './conversation/thread-events.ts';
import * as work from './conversation/work-events.ts';
import { defineProjection, type Write } from './projection.ts';

const handlers: { [T in EventType]?: Handler<T> } = {
  'thread.created': threads.created,
  'thread.renamed': threads.renamed,
  'thread.archived': threads.archived,
  'thread.unarchived': threads.unarchived,
  'run.claimed': runs.claimed,
  'run.state_changed': runs.stateChanged,
  'run.settled': runs.settled,
  'run.steered': runs.steered,
  'run.steers_left': runs.steersLeft,
  'item.started': items.started,
  'item.delta': items.delta,
  'item.completed': items.completed,
  'model.input_prepared': work.inputPrepared,
  'model.response_finished': work.responseFinished,
  'context.compacted': work.compacted,
  'process.recorded': work.processRecorded,
  'file.change_recorded': work.fileChangeRecorded,
};

/** Changes of the conversation read model that a commit means; none for a commit on a subject of no thread. */
export function projectConversation(stored: StoredCommit): Write[] {
  const scope = scopeOf(stored);
  if (scope === null) return [];
  const writes: Write[] = [];
  for (const [index, event] of stored.commit.events.entries()) {
    // Events were checked against their schemas before they reached a projection.
    const handler = handlers[event.type as EventType] as Handler<EventType> | undefined;
    if (handler !== undefined) writes.push(...handler(event.payload as never, scope, placeOf(stored, index)));
  }
  if (scope.subject.kind === 'run') writes.push(runs.runHead(scope.subject.runId, stored.streamSeq));
  return writes;
}

/** Threads, turns, runs and all that belongs to them: the read model of gateway and agent. */
export const conversationProjection = defineProjection({
  name: 'conversation',
  revision: 1,
  ddl: conversationDdl,
  transient: ['stream_chunks'],
  project: projectConversation,
});
