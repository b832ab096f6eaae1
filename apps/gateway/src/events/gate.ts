import { AppError } from '@rookery/protocol';

/** Lets so many pieces of work run at a time; the others wait in order, and above `maxWaiting` they are refused. */
export class Gate {
  readonly #places: number;
  readonly #maxWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(places: number, maxWaiting: number) {
    this.#places = places;
    this.#maxWaiting = maxWaiting;
  }

  /** Runs the work when there is a place; SERVICE_UNAVAILABLE where too much waits already. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#places) {
      if (this.#waiting.length >= this.#maxWaiting)
        throw new AppError('SERVICE_UNAVAILABLE', { details: { busy: 'replay' } });
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else {
      this.#running += 1;
    }
    try {
      return await work();
    } finally {
      // A place that somebody waits for is handed on without becoming free.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}
