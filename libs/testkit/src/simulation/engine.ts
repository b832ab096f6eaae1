import { createHash } from 'node:crypto';
import { type SeededRandom, seededRandom } from '../seeded-random.ts';

/** A simulated process: what it waits for dies with it and stands still while it is stopped. */
export interface Owner {
  readonly name: string;
  alive: boolean;
  /** Stopped as by SIGSTOP: what becomes due is held back until it goes on. */
  stopped: boolean;
  /** How far its wall clock is from the simulation's, milliseconds. */
  skewMs: number;
  readonly held: Pending[];
}

export interface Pending {
  readonly owner: Owner;
  /** Virtual milliseconds. */
  due: number;
  readonly tie: number;
  readonly what: string;
  fire(): void;
  cancelled: boolean;
}

/** The moment at which every simulation begins. */
const EPOCH = Date.UTC(2026, 0, 1);
const HASHED_CHARS = 65_536;
const isBefore = (a: Pending, b: Pending): boolean => a.due < b.due || (a.due === b.due && a.tie < b.tie);

/** What is due first comes out first. */
class Heap {
  readonly #items: Pending[] = [];

  push(item: Pending): void {
    const items = this.#items;
    let at = items.push(item) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = items[parent] as Pending;
      if (!isBefore(item, above)) break;
      items[at] = above;
      at = parent;
    }
    items[at] = item;
  }

  pop(): Pending | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (first === undefined || last === undefined || items.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && isBefore(items[child + 1] as Pending, items[child] as Pending)) child += 1;
      if (!isBefore(items[child] as Pending, last)) break;
      items[at] = items[child] as Pending;
      at = child;
    }
    items[at] = last;
    return first;
  }
}

/**
 * A world without time of its own: what happens next is drawn from one seed, and nothing else happens. Between two
 * happenings everything that follows from the first (all microtasks) has come to rest.
 */
export class Engine {
  readonly random: SeededRandom;
  /** Virtual milliseconds since the beginning. */
  now = 0;
  /** The process that runs now: timers that it sets are its own. */
  current: Owner;
  /** The world itself: never stopped, never killed. */
  readonly world: Owner;
  /** Happenings so far. */
  steps = 0;
  readonly #heap = new Heap();
  readonly #hash = createHash('sha256');
  readonly #lines: string[] | null;
  /** Of the trace, not yet hashed. */
  #fresh = '';
  #ties = 0;

  /** `keepTrace` keeps the lines of the trace beside their digest. */
  constructor(seed: number, keepTrace = false) {
    this.random = seededRandom(seed);
    this.world = this.owner('world');
    this.current = this.world;
    this.#lines = keepTrace ? [] : null;
  }

  owner(name: string, skewMs = 0): Owner {
    return { name, alive: true, stopped: false, skewMs, held: [] };
  }

  /** Wall clock of the process that runs now, milliseconds since 1970. */
  wallClock(): number {
    return EPOCH + Math.floor(this.now) + this.current.skewMs;
  }

  /** Something of a process that becomes due after a while. Things that are due together come in a drawn order. */
  after(owner: Owner, delayMs: number, what: string, fire: () => void): Pending {
    this.#ties += 1;
    const tie = this.random.next() + this.#ties * 1e-9;
    const pending: Pending = { owner, due: this.now + Math.max(0, delayMs), tie, what, fire, cancelled: false };
    this.#heap.push(pending);
    return pending;
  }

  /** A process dies where it stands. */
  kill(owner: Owner): void {
    this.note(owner, 'killed');
    owner.alive = false;
    owner.held.length = 0;
  }

  stop(owner: Owner): void {
    this.note(owner, 'stopped');
    owner.stopped = true;
  }

  continue(owner: Owner): void {
    if (!owner.stopped) return;
    this.note(owner, 'goes on');
    owner.stopped = false;
    // All of it at once, in the order in which it became due.
    for (const [index, pending] of owner.held.splice(0).entries()) {
      pending.due = this.now + index * 1e-6;
      this.#heap.push(pending);
    }
  }

  /** A line of the trace. It may hold nothing that differs between two runs of a seed. */
  note(owner: Owner, text: string): void {
    const line = `${this.now.toFixed(3)} ${owner.name} ${text}`;
    this.#fresh += `${line}\n`;
    if (this.#fresh.length > HASHED_CHARS) {
      this.#hash.update(this.#fresh);
      this.#fresh = '';
    }
    this.#lines?.push(line);
  }

  trace(): { digest: string; lines: readonly string[] } {
    return { digest: this.#hash.copy().update(this.#fresh).digest('hex'), lines: this.#lines ?? [] };
  }

  /** Lets things happen until `done` says so or virtual time is up; false where time was up. */
  async run(done: () => boolean, untilMs: number): Promise<boolean> {
    while (!done()) {
      const next = this.#heap.pop();
      if (next === undefined) return done();
      if (next.cancelled || !next.owner.alive) continue;
      if (next.owner.stopped) {
        next.owner.held.push(next);
        continue;
      }
      if (next.due > untilMs) {
        this.#heap.push(next);
        this.now = untilMs;
        return false;
      }
      this.now = Math.max(this.now, next.due);
      this.steps += 1;
      this.current = next.owner;
      this.note(next.owner, next.what);
      next.fire();
      await rested();
      this.current = this.world;
    }
    return true;
  }
}

/** Resolves once every microtask that there is, and all that follow from them, are done. */
export function rested(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
