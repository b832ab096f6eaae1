import type { Item, WireEvent } from '../wire/types.ts';
import type { Conversation, JournalState, RunState, TurnState } from './model.ts';

/** Changes the turn that an event belongs to; no change where its page is not loaded or stands at a later seq. */
export function changeTurn(
  state: JournalState,
  event: WireEvent,
  change: (turn: TurnState) => TurnState,
): JournalState {
  const conversation = state.conversations[event.threadId];
  if (!conversation) return state;
  // The newest turn is the one that changes, so the search begins there.
  const index = conversation.turns.findLastIndex((turn) => turn.id === event.turnId);
  const turn = conversation.turns[index];
  if (!turn || event.seq <= turn.asOf) return state;
  const turns = conversation.turns.with(index, { ...change(turn), asOf: event.seq });
  return withConversation(state, event.threadId, { ...conversation, turns });
}

/** Changes the run that an event belongs to. */
export function changeRun(state: JournalState, event: WireEvent, change: (run: RunState) => RunState): JournalState {
  return changeTurn(state, event, (turn) => ({
    ...turn,
    updatedAt: event.timestamp,
    runs: turn.runs.map((run) => (run.id === event.runId ? change(run) : run)),
  }));
}

/** Puts an item into a run: over the one with its id, else by its ordinal. */
export function putItem(run: RunState, item: Item): RunState {
  const index = run.items.findIndex((other) => other.id === item.id);
  if (index >= 0) return { ...run, items: run.items.with(index, item) };
  return { ...run, items: [...run.items, item].sort((a, b) => a.ordinal - b.ordinal) };
}

export function withConversation(state: JournalState, threadId: string, conversation: Conversation): JournalState {
  return { ...state, conversations: { ...state.conversations, [threadId]: conversation } };
}
