import type { Engine, Owner } from './engine.ts';

/** A way on which nothing overtakes: what is sent first arrives first. */
export class OrderedWay {
  readonly #engine: Engine;
  readonly #owner: Owner;
  readonly #what: string;
  readonly #delay: () => number;
  #lastDue = 0;

  constructor(engine: Engine, owner: Owner, what: string, delay: () => number) {
    this.#engine = engine;
    this.#owner = owner;
    this.#what = what;
    this.#delay = delay;
  }

  send(deliver: () => void): void {
    const due = Math.max(this.#lastDue + 0.001, this.#engine.now + this.#delay());
    this.#lastDue = due;
    this.#engine.after(this.#owner, due - this.#engine.now, this.#what, deliver);
  }
}
