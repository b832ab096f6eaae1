import type {
  FileChange,
  Item,
  ProcessRecord,
  RunStatus,
  RunView,
  Thread,
  TurnView,
  WireEvent,
} from '../wire/types.ts';
import { changeRun, putItem, withConversation } from './change-run.ts';
import { type JournalState, noExtras, openingOf, type RunState, type TurnState } from './model.ts';
import { addUsage } from './usage.ts';

type Handler = (state: JournalState, event: WireEvent) => JournalState;

/** One handler for each of the 15 event types of the conversation. */
const handlers: Record<string, Handler> = {
  'thread.created': putThread,
  'thread.renamed': putThread,
  'thread.archived': putThread,
  'thread.unarchived': putThread,
  'run.state_changed': (state, event) => withStatus(state, event, event.payload.status as RunStatus),
  'run.settled': settle,
  'run.steered': (state, event) => putEventItem(noteStored(state, event.payload.clientRequestId), event),
  'item.started': putEventItem,
  'item.delta': (state, event) =>
    changeRun(state, event, (run) => appendDelta(run, event.itemId, String(event.payload.delta))),
  'item.completed': (state, event) => (event.payload.turn ? submit(state, event) : putEventItem(state, event)),
  'model.input_prepared': (state, event) =>
    changeRun(state, event, (run) => ({ ...run, modelCalls: run.modelCalls + 1, modelBusy: true })),
  'model.response_finished': (state, event) =>
    changeRun(state, event, (run) => ({ ...run, modelBusy: false, usage: addUsage(run.usage, event.payload.usage) })),
  'context.compacted': (state, event) =>
    changeRun(state, event, (run) => ({ ...run, compactions: run.compactions + 1 })),
  'process.recorded': (state, event) => {
    const record = event.payload.process as ProcessRecord;
    return changeRun(state, event, (run) => ({ ...run, processes: { ...run.processes, [record.itemId]: record } }));
  },
  'file.change_recorded': (state, event) => {
    const change = event.payload as unknown as FileChange;
    return changeRun(state, event, (run) => ({
      ...run,
      fileChanges: { ...run.fileChanges, [change.toolCallItemId]: change },
    }));
  },
};

/** The state after an event. Pure; an unknown type changes nothing, so a newer server does not break this page. */
export function applyEvent(state: JournalState, event: WireEvent): JournalState {
  const handler = handlers[event.type];
  return handler ? noteActivity(handler(state, event), event) : state;
}

function putThread(state: JournalState, event: WireEvent): JournalState {
  const thread = event.payload.thread as Thread;
  const threads = { ...state.threads, [thread.id]: thread };
  // A thread that was just made is empty: its conversation is known without asking for it.
  if (event.type !== 'thread.created' || state.conversations[thread.id]) return { ...state, threads };
  return withConversation({ ...state, threads }, thread.id, { turns: [], nextCursor: null, hasMore: false });
}

function submit(state: JournalState, event: WireEvent): JournalState {
  const turn = event.payload.turn as Omit<TurnView, 'runs'>;
  const run = event.payload.run as RunView & { clientRequestId?: string };
  const item = event.payload.item as Item;
  let next = touchThread(noteStored(state, run.clientRequestId ?? event.payload.clientRequestId), event);
  const opening = openingOf(item.content);
  if (opening && next.openings[event.threadId] === undefined) {
    next = { ...next, openings: { ...next.openings, [event.threadId]: opening } };
  }
  const conversation = next.conversations[event.threadId];
  if (!conversation || conversation.turns.some((known) => known.id === turn.id)) return next;
  const added: TurnState = { ...turn, asOf: event.seq, runs: [{ ...noExtras, ...blankRun(run), items: [item] }] };
  const turns = [...conversation.turns, added].sort((a, b) => a.ordinal - b.ordinal);
  return withConversation(next, event.threadId, { ...conversation, turns });
}

function blankRun(run: RunView): RunView {
  return { ...run, startedAt: null, settledAt: null, reasonCode: null, modelCalls: 0, compactions: 0, items: [] };
}

function settle(state: JournalState, event: WireEvent): JournalState {
  const status = event.payload.status as RunStatus;
  const settledAt = (event.payload.settledAt as string | undefined) ?? event.timestamp;
  const reasonCode = (event.payload.reasonCode as string | undefined) ?? null;
  const settled = changeRun(touchThread(state, event), event, (run) => ({
    ...run,
    status,
    settledAt,
    reasonCode,
    modelBusy: false,
  }));
  // The turn took this seq with its run, so only its status is set here.
  return setTurnStatus(settled, event, status);
}

function withStatus(state: JournalState, event: WireEvent, status: RunStatus): JournalState {
  const changed = changeRun(state, event, (run) => ({
    ...run,
    status,
    startedAt: status === 'running' ? event.timestamp : run.startedAt,
  }));
  return setTurnStatus(changed, event, status);
}

function setTurnStatus(state: JournalState, event: WireEvent, status: RunStatus): JournalState {
  const conversation = state.conversations[event.threadId];
  const index = conversation?.turns.findLastIndex((turn) => turn.id === event.turnId && turn.asOf === event.seq) ?? -1;
  const turn = conversation?.turns[index];
  if (!conversation || !turn) return state;
  return withConversation(state, event.threadId, {
    ...conversation,
    turns: conversation.turns.with(index, { ...turn, status }),
  });
}

function putEventItem(state: JournalState, event: WireEvent): JournalState {
  return changeRun(state, event, (run) => putItem(run, event.payload.item as Item));
}

function appendDelta(run: RunState, itemId: string | null, delta: string): RunState {
  const index = run.items.findIndex((item) => item.id === itemId);
  const item = run.items[index];
  return item ? { ...run, items: run.items.with(index, { ...item, content: item.content + delta }) } : run;
}

/** Any event of a run shows that it is alive, also one that was running before this page was opened. */
function noteActivity(state: JournalState, event: WireEvent): JournalState {
  const { threadId, runId } = event;
  if (!runId) return state;
  const known = state.activity[threadId];
  if (event.type === 'run.settled') {
    if (known?.runId !== runId) return state;
    const { [threadId]: _settled, ...activity } = state.activity;
    return { ...state, activity };
  }
  if (event.type === 'process.recorded') return state; // A process outlives its run.
  const queued = event.payload.turn !== undefined || event.payload.status === 'queued';
  const status = queued ? 'queued' : 'running';
  if (known && (known.runId === runId ? known.status === status : status === 'queued')) return state;
  return { ...state, activity: { ...state.activity, [threadId]: { runId, status } } };
}

function noteStored(state: JournalState, clientRequestId: unknown): JournalState {
  if (typeof clientRequestId !== 'string') return state;
  return { ...state, stored: new Set([...state.stored].slice(-50).concat(clientRequestId)) };
}

function touchThread(state: JournalState, event: WireEvent): JournalState {
  const thread = state.threads[event.threadId];
  if (!thread || thread.updatedAt >= event.timestamp) return state;
  return { ...state, threads: { ...state.threads, [thread.id]: { ...thread, updatedAt: event.timestamp } } };
}
