import { nuid } from '@nats-io/transport-node';
import { seededRandom } from '../seeded-random.ts';
import type { Engine, Pending } from './engine.ts';

/** What stands in for the timer that Node gives out. */
class VirtualTimer {
  readonly #engine: Engine;
  readonly #callback: () => void;
  readonly #ms: number;
  readonly #repeats: boolean;
  #pending: Pending;

  constructor(engine: Engine, callback: () => void, ms: number, repeats: boolean) {
    this.#engine = engine;
    this.#callback = callback;
    // As Node: a delay below a millisecond is one, and a timer is never early.
    this.#ms = Math.max(1, Number.isFinite(ms) ? ms : 1);
    this.#repeats = repeats;
    this.#pending = this.#set(engine.current);
  }

  #set(owner = this.#pending.owner): Pending {
    const late = this.#engine.random.next();
    return this.#engine.after(owner, this.#ms + late, this.#repeats ? 'interval' : 'timer', () => {
      if (this.#repeats) this.#pending = this.#set();
      this.#callback();
    });
  }

  refresh(): this {
    this.#pending.cancelled = true;
    this.#pending = this.#set();
    return this;
  }

  cancel(): void {
    this.#pending.cancelled = true;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }
}

/**
 * Puts the simulation's clock, timers and chance in place of the real ones and gives the way back. The code under test
 * is the real one and knows nothing of it. While they stand, nothing but the simulation may run.
 */
export function installVirtualTime(engine: Engine): () => void {
  // It draws its first name by chance: not by that of the first simulation alone.
  nuid.next();
  const chance = seededRandom(engine.random.integer(1, 2 ** 31));
  const real = {
    setTimeout: globalThis.setTimeout,
    clearTimeout: globalThis.clearTimeout,
    setInterval: globalThis.setInterval,
    clearInterval: globalThis.clearInterval,
    Date: globalThis.Date,
    random: Math.random,
    now: performance.now,
  };
  const RealDate = real.Date;
  class VirtualDate extends RealDate {
    constructor(...given: unknown[]) {
      if (given.length === 0) super(engine.wallClock());
      else super(...(given as [number]));
    }

    static override now(): number {
      return engine.wallClock();
    }
  }
  const start =
    (repeats: boolean) =>
    (callback: (...args: unknown[]) => void, ms = 1, ...args: unknown[]) =>
      new VirtualTimer(engine, () => callback(...args), ms, repeats);
  const clear = (timer: unknown) => {
    if (timer instanceof VirtualTimer) timer.cancel();
  };
  const set = (name: string, value: unknown) => Object.assign(globalThis, { [name]: value });
  set('setTimeout', start(false));
  set('setInterval', start(true));
  set('clearTimeout', clear);
  set('clearInterval', clear);
  set('Date', VirtualDate);
  Math.random = () => chance.next();
  performance.now = () => engine.now;
  return () => {
    const { random, now, ...globals } = real;
    for (const [name, value] of Object.entries(globals)) set(name, value);
    Math.random = random;
    performance.now = now;
  };
}
