import type { CommitEvent, Item, SettledStatus, StoredCommit } from '@rookery/protocol';

/** A tool call that was announced and has no result yet. */
export interface OpenCall {
  item: Item;
}

export interface Steer {
  item: Item;
  /** True once a model call has included it. */
  seen: boolean;
}

/** A run as its own subject tells it: enough to settle it for a holder that died, and the base of the live loop. */
export interface RunState {
  holder: string | null;
  epoch: number;
  status: 'unclaimed' | 'running' | SettledStatus;
  /** Highest ordinal given to an item; the user item is 1. */
  lastOrdinal: number;
  /** Last model call that was prepared, 0 = none. */
  stepOrdinal: number;
  modelCallOpen: boolean;
  /** The assistant message that is being streamed, with its text so far. */
  streaming: { item: Item; text: string } | null;
  openCalls: OpenCall[];
  steers: Steer[];
  /** Items that are settled, in the order in which they were. */
  settledItems: Item[];
}

export const unclaimedRun: RunState = {
  holder: null,
  epoch: 0,
  status: 'unclaimed',
  lastOrdinal: 1,
  stepOrdinal: 0,
  modelCallOpen: false,
  streaming: null,
  openCalls: [],
  steers: [],
  settledItems: [],
};

function withItem(state: RunState, item: Item): RunState {
  return { ...state, lastOrdinal: Math.max(state.lastOrdinal, item.ordinal) };
}

function completeItem(state: RunState, item: Item): RunState {
  const next = withItem(state, item);
  return {
    ...next,
    streaming: next.streaming?.item.id === item.id ? null : next.streaming,
    openCalls: next.openCalls.filter((call) => call.item.id !== item.id),
    steers: next.steers.map((steer) => (steer.item.id === item.id ? { item, seen: true } : steer)),
    settledItems: [...next.settledItems, item],
  };
}

/** Applies one event of the run's subject. Events of other kinds leave the state as it is. */
export function evolveRun(state: RunState, event: CommitEvent): RunState {
  const payload = event.payload as Record<string, unknown>;
  switch (event.type) {
    case 'run.claimed':
      return { ...state, status: 'running', holder: payload.holder as string, epoch: payload.epoch as number };
    case 'model.input_prepared':
      return { ...state, stepOrdinal: payload.stepOrdinal as number, modelCallOpen: true };
    case 'model.response_finished':
      return { ...state, modelCallOpen: false };
    case 'item.started': {
      const item = payload.item as Item;
      const next = withItem(state, item);
      return item.kind === 'tool_call'
        ? { ...next, openCalls: [...next.openCalls, { item }] }
        : { ...next, streaming: { item, text: '' } };
    }
    case 'item.delta': {
      if (state.streaming === null || state.streaming.item.id !== event.itemId) return state;
      const text = state.streaming.text + (payload.delta as string);
      return { ...state, streaming: { ...state.streaming, text } };
    }
    case 'run.steered': {
      const item = payload.item as Item;
      return { ...withItem(state, item), steers: [...state.steers, { item, seen: false }] };
    }
    case 'item.completed':
      return completeItem(state, payload.item as Item);
    case 'run.settled':
      return { ...state, status: payload.status as SettledStatus };
    default:
      return state;
  }
}

/** The state of a run after all commits of its subject. */
export function foldRun(commits: readonly StoredCommit[]): RunState {
  let state = unclaimedRun;
  for (const { commit } of commits) for (const event of commit.events) state = evolveRun(state, event);
  return state;
}
