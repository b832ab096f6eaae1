/**
 * One lock for each resolved path: holders of the same key run one after the other in the order in which they asked,
 * others at the same time. Give it only resolved paths, so that an alias through a symbolic link meets the same lock.
 */
export class PathLocks {
  readonly #tails = new Map<string, Promise<void>>();

  /** Runs the work while no other work holds this path, and passes on what it returns or throws. */
  async run<T>(path: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(path) ?? Promise.resolve();
    const { promise: done, release } = gate();
    this.#tails.set(path, done);
    await before;
    try {
      return await work();
    } finally {
      release();
      if (this.#tails.get(path) === done) this.#tails.delete(path);
    }
  }

  /** How many paths are held or waited for now. */
  get size(): number {
    return this.#tails.size;
  }
}

function gate(): { readonly promise: Promise<void>; readonly release: () => void } {
  let release: () => void = () => {};
  const promise = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { promise, release };
}
