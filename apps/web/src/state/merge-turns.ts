import type { Result } from '../wire/methods.ts';
import type { TurnView, WireEvent } from '../wire/types.ts';
import { applyEvent } from './apply-event.ts';
import { withConversation } from './change-run.ts';
import { type JournalState, noExtras, openingOf, type RunState, type TurnState } from './model.ts';

/**
 * Merges a page of turn.list with what live events made. A page stands at its snapshotSeq: it wins over turns at an
 * earlier seq, loses to turns at a later one, and `recent` events after it are applied on top.
 */
export function mergeTurns(
  state: JournalState,
  threadId: string,
  page: Result<'turn.list'>,
  recent: readonly WireEvent[],
): JournalState {
  const conversation = state.conversations[threadId] ?? { turns: [], nextCursor: null, hasMore: false };
  const byId = new Map(conversation.turns.map((turn) => [turn.id, turn]));
  for (const turn of page.turns) {
    const known = byId.get(turn.id);
    if (!known || known.asOf < page.snapshotSeq) byId.set(turn.id, fromPage(turn, page.snapshotSeq, known));
  }
  const turns = [...byId.values()].sort((a, b) => a.ordinal - b.ordinal);
  const merged = withConversation(withOpening(state, threadId, turns), threadId, {
    turns,
    nextCursor: page.nextCursor,
    hasMore: page.hasMore,
  });
  const later = recent.filter((event) => event.threadId === threadId && event.seq > page.snapshotSeq);
  return showActivity(later.reduce(applyEvent, merged), threadId);
}

function fromPage(turn: TurnView, asOf: number, known: TurnState | undefined): TurnState {
  const runs = turn.runs.map((run): RunState => {
    const extras = known?.runs.find((other) => other.id === run.id) ?? noExtras;
    const { processes, fileChanges, usage, modelBusy } = extras;
    return { ...run, processes, fileChanges, usage, modelBusy };
  });
  return { ...turn, runs, asOf };
}

function withOpening(state: JournalState, threadId: string, turns: readonly TurnState[]): JournalState {
  const first = turns[0]?.ordinal === 1 ? turns[0].runs[0]?.items[0]?.content : undefined;
  const opening = first === undefined ? null : openingOf(first);
  return opening ? { ...state, openings: { ...state.openings, [threadId]: opening } } : state;
}

/** A page can show a run that was under way before this page was opened. */
function showActivity(state: JournalState, threadId: string): JournalState {
  const runs = state.conversations[threadId]?.turns.flatMap((turn) => turn.runs) ?? [];
  const run = runs.find((one) => one.status === 'running') ?? runs.find((one) => one.status === 'queued');
  const { [threadId]: _stale, ...others } = state.activity;
  if (!run || (run.status !== 'running' && run.status !== 'queued')) return { ...state, activity: others };
  return { ...state, activity: { ...others, [threadId]: { runId: run.id, status: run.status } } };
}
