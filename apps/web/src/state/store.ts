import { useSyncExternalStore } from 'react';

export interface Store<S> {
  get: () => S;
  set: (change: (state: S) => S) => void;
  subscribe: (listener: () => void) => () => void;
}

/** A value with listeners, for useSyncExternalStore. */
export function createStore<S>(initial: S): Store<S> {
  let state = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => state,
    set: (change) => {
      const next = change(state);
      if (Object.is(next, state)) return;
      state = next;
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Reads a part of a store; `select` must return a part of the state, not a new object. */
export function useStore<S, T>(store: Store<S>, select: (state: S) => T): T {
  return useSyncExternalStore(store.subscribe, () => select(store.get()));
}
