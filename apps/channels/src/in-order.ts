export type InOrder = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Runs work of one key one after the other, in the order in which it came; work of different keys runs together. */
export function inOrder(): InOrder {
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const next = (last.get(key) ?? Promise.resolve()).then(work, work);
    last.set(key, next);
    const forget = () => {
      if (last.get(key) === next) last.delete(key);
    };
    next.then(forget, forget);
    return next;
  };
}
