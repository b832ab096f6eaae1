export interface Caused {
  /** The command that led to this event. */
  cause: string;
}

/**
 * Keeps a connection's events back from the first one that an unanswered command of this connection caused, so that
 * the answer is always the first to be seen. Order never changes.
 */
export class AckHold<T extends Caused> {
  readonly #release: (event: T) => void;
  readonly #capacity: number;
  /** Unanswered commands with the number of requests that wait for each. */
  readonly #waiting = new Map<string, number>();
  #held: T[] = [];

  /** Above `capacity` held events the order of events matters more than that of the answer: all are released. */
  constructor(release: (event: T) => void, capacity: number) {
    this.#release = release;
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#held.length;
  }

  begin(cause: string): void {
    this.#waiting.set(cause, (this.#waiting.get(cause) ?? 0) + 1);
  }

  /** The answer was written, or waited for long enough. */
  end(cause: string): void {
    const count = this.#waiting.get(cause) ?? 0;
    if (count > 1) this.#waiting.set(cause, count - 1);
    else this.#waiting.delete(cause);
    this.#drain();
  }

  push(event: T): void {
    if (this.#held.length === 0 && !this.#waiting.has(event.cause)) {
      this.#release(event);
      return;
    }
    this.#held.push(event);
    if (this.#held.length > this.#capacity) {
      this.#waiting.clear();
      this.#drain();
    }
  }

  #drain(): void {
    const blocked = this.#held.findIndex((event) => this.#waiting.has(event.cause));
    const ready = this.#held.splice(0, blocked === -1 ? this.#held.length : blocked);
    for (const event of ready) this.#release(event);
  }
}
