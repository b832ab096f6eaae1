import type { FileChange, ProcessRecord, RunView, Thread, TurnView, Usage } from '../wire/types.ts';

/** What a run shows beyond its items; known only from live events, so empty after a reload. */
export interface RunExtras {
  processes: Record<string, ProcessRecord>;
  fileChanges: Record<string, FileChange>;
  usage: Usage | null;
  /** True between model.input_prepared and model.response_finished. */
  modelBusy: boolean;
}

export type RunState = RunView & RunExtras;

/** `asOf` is the seq that the turn stands at; events up to it are part of it already. */
export interface TurnState extends Omit<TurnView, 'runs'> {
  runs: readonly RunState[];
  asOf: number;
}

export interface Conversation {
  turns: readonly TurnState[];
  nextCursor: string | null;
  hasMore: boolean;
}

/** Everything that events change. Records are replaced, never mutated, so that a view re-renders only what changed. */
export interface JournalState {
  threads: Record<string, Thread>;
  conversations: Record<string, Conversation>;
  /** The unsettled run of a thread, as far as events have shown one. */
  activity: Record<string, { runId: string; status: 'queued' | 'running' }>;
  /** First words of threads without a title. */
  openings: Record<string, string>;
  /** Client request ids of submissions and steers that were seen stored. */
  stored: ReadonlySet<string>;
}

export const emptyJournal: JournalState = {
  threads: {},
  conversations: {},
  activity: {},
  openings: {},
  stored: new Set(),
};

export const noExtras: RunExtras = { processes: {}, fileChanges: {}, usage: null, modelBusy: false };

const OPENING_CHARS = 80;

/** The first line of a message, cut to a title's length; null where there is none. */
export function openingOf(content: string): string | null {
  const line = content
    .split('\n')
    .map((part) => part.trim())
    .find((part) => part !== '');
  if (!line) return null;
  const chars = [...line];
  return chars.length > OPENING_CHARS ? `${chars.slice(0, OPENING_CHARS - 1).join('')}…` : line;
}
