import { createStore, useStore } from '../state/store.ts';
import { request } from './rpc.ts';
import { showError } from './toasts.ts';

/** Runs that were asked to stop and have not settled yet, as far as this page knows. */
const stopping = createStore<ReadonlySet<string>>(new Set());

export function useStopping(runId: string | null): boolean {
  return useStore(stopping, (state) => runId !== null && state.has(runId));
}

/** Asks a run to stop. The outcome comes as run.settled; the run may have completed first. */
export async function stopRun(runId: string): Promise<void> {
  if (stopping.get().has(runId)) return;
  stopping.set((state) => new Set(state).add(runId));
  try {
    await request('run.cancel', { runId });
  } catch (error) {
    stopping.set((state) => new Set([...state].filter((one) => one !== runId)));
    showError(error);
  }
}
