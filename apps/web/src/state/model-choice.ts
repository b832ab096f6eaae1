import type { Model } from '../wire/types.ts';
import { readStored, writeStored } from './browser-storage.ts';
import { createStore } from './store.ts';

export interface ModelRef {
  providerId: string;
  modelId: string;
}

/** The built-in scripted provider. */
export const DEMO_PROVIDER = 'demo';

const STORAGE = 'rookery.model';
const LAST = 'last';
const KEPT = 200;

export type Choices = Record<string, ModelRef>;

/** Models chosen by thread, and the last choice of all. */
export const choices = createStore<Choices>(readChoices());

function readChoices(): Choices {
  try {
    const value: unknown = JSON.parse(readStored(STORAGE) ?? '{}');
    return value !== null && typeof value === 'object' ? (value as Choices) : {};
  } catch {
    return {};
  }
}

/** Keeps a thread's choice, and makes it the one that new threads begin with. */
export function chooseModel(threadId: string | null, choice: ModelRef): void {
  choices.set((state) => {
    const entries = Object.entries(state).filter(([key]) => key !== LAST && key !== threadId);
    const kept = Object.fromEntries(entries.slice(-KEPT));
    return { ...kept, ...(threadId ? { [threadId]: choice } : {}), [LAST]: choice };
  });
  writeStored(STORAGE, JSON.stringify(choices.get()));
}

/** The model that the next message of a thread goes to: chosen here, used here before, chosen last, else a real one. */
export function modelFor(
  models: readonly Model[],
  state: Choices,
  threadId: string | null,
  usedBefore: ModelRef | null,
): Model | null {
  const enabled = models.filter((model) => model.enabled);
  const wishes = [threadId ? state[threadId] : undefined, usedBefore ?? undefined, state[LAST]];
  for (const wish of wishes) {
    const model = enabled.find((one) => one.providerId === wish?.providerId && one.id === wish.modelId);
    if (model) return model;
  }
  return enabled.find((model) => model.providerId !== DEMO_PROVIDER) ?? enabled[0] ?? null;
}
