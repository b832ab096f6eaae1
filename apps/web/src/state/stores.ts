import type { ConnectionStatus } from '../connection/connection.ts';
import type { Model, Provider, Thread } from '../wire/types.ts';
import { emptyJournal, type JournalState } from './model.ts';
import { createStore } from './store.ts';

/** What the event stream says. Changes often while an answer streams. */
export const journal = createStore<JournalState>(emptyJournal);

export interface Toast {
  id: number;
  text: string;
  tone: 'plain' | 'error';
  action?: { label: string; run: () => void };
}

export interface UiState {
  status: ConnectionStatus;
  /** True where a sign-in link was opened whose code was used before or is too old. */
  linkRefused: boolean;
  /** False until the first lists have arrived. */
  loaded: boolean;
  threadCursor: string | null;
  selected: string | null;
  /** Error code of a conversation that could not be loaded. */
  loadErrors: Record<string, string>;
  archived: readonly Thread[] | null;
  archivedCursor: string | null;
  models: readonly Model[];
  providers: readonly Provider[];
  toasts: readonly Toast[];
  dialog: { name: 'new-thread' | 'settings' } | { name: 'rename'; threadId: string } | null;
  /** The thread list as a drawer on a narrow screen. */
  drawer: boolean;
  /** A sentence for screen readers, spoken politely. */
  announcement: string;
}

/** What the page itself decides, and lists that are not on the event stream. */
export const ui = createStore<UiState>({
  status: 'connecting',
  linkRefused: false,
  loaded: false,
  threadCursor: null,
  selected: null,
  loadErrors: {},
  archived: null,
  archivedCursor: null,
  models: [],
  providers: [],
  toasts: [],
  dialog: null,
  drawer: false,
  announcement: '',
});

export function patchUi(change: Partial<UiState>): void {
  ui.set((state) => ({ ...state, ...change }));
}
