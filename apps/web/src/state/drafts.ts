import type { TurnStartParams } from '../wire/methods.ts';
import { readStored, storedKeys, writeStored } from './browser-storage.ts';
import { createStore } from './store.ts';

/**
 * A message on its way. It is stored before it is sent and kept until the server has answered, with the request id that
 * makes a repeat harmless: after a lost answer or a reload the same request is sent again and stored once.
 */
export type Outgoing =
  | { kind: 'turn'; params: TurnStartParams }
  /** `otherwise` is sent where the run has ended before the steer arrives. */
  | { kind: 'steer'; runId: string; clientRequestId: string; otherwise: TurnStartParams }
  | {
      kind: 'first';
      threadRequestId: string;
      title: string | null;
      turn: Pick<TurnStartParams, 'content' | 'providerId' | 'modelId' | 'clientRequestId'>;
    };

export interface Draft {
  text: string;
  outgoing?: Outgoing;
}

/** Draft of the composer that has no thread yet. */
export const NEW_THREAD = 'new';

const PREFIX = 'rookery.draft.';
const none: Draft = { text: '' };
/** All drafts by thread id. */
export const drafts = createStore<Record<string, Draft>>({});

/** The draft of a thread, from memory or from the last visit. */
export function draftOf(state: Record<string, Draft>, threadId: string): Draft {
  return state[threadId] ?? none;
}

/** Brings the drafts of earlier visits into memory. */
export function recallDrafts(): void {
  const found: Record<string, Draft> = {};
  for (const key of storedKeys(PREFIX)) {
    const draft = parseDraft(readStored(key));
    if (draft) found[key.slice(PREFIX.length)] = draft;
  }
  drafts.set((state) => ({ ...found, ...state }));
}

/** Keeps a draft in memory and on disk; an empty one is removed. */
export function keepDraft(threadId: string, draft: Draft): void {
  drafts.set((state) => ({ ...state, [threadId]: draft }));
  writeStored(PREFIX + threadId, draft.text === '' && !draft.outgoing ? null : JSON.stringify(draft));
}

/** A stored draft, or undefined where it is none. */
export function parseDraft(stored: string | null): Draft | undefined {
  if (stored === null) return undefined;
  try {
    const value = JSON.parse(stored) as Partial<Draft> | null;
    if (typeof value?.text !== 'string') return undefined;
    return value.outgoing ? { text: value.text, outgoing: value.outgoing } : { text: value.text };
  } catch {
    return undefined;
  }
}
