import type { WireEvent } from '../wire/types.ts';

/** Events that stay at hand for pages of turn.list that stand at an earlier seq than the live stream. */
const RECENT = 4096;
const HIDDEN_PAGE_MS = 100;

/** Collects events and hands them on once a frame, so that a fast stream costs one render a frame. */
export class EventBatch {
  #waiting: WireEvent[] = [];
  #recent: WireEvent[] = [];
  #scheduled = false;
  #flush: (events: readonly WireEvent[]) => void;

  constructor(flush: (events: readonly WireEvent[]) => void) {
    this.#flush = flush;
  }

  get recent(): readonly WireEvent[] {
    return this.#recent;
  }

  add(events: readonly WireEvent[]): void {
    this.#waiting.push(...events);
    this.#recent.push(...events);
    if (this.#recent.length > 2 * RECENT) this.#recent = this.#recent.slice(-RECENT);
    if (this.#scheduled) return;
    this.#scheduled = true;
    // A hidden page gets no animation frames.
    if (document.hidden) setTimeout(() => this.flush(), HIDDEN_PAGE_MS);
    else requestAnimationFrame(() => this.flush());
  }

  /** Hands on what waits, now. */
  flush(): void {
    this.#scheduled = false;
    if (this.#waiting.length === 0) return;
    const events = this.#waiting;
    this.#waiting = [];
    this.#flush(events);
  }

  clear(): void {
    this.#waiting = [];
    this.#recent = [];
  }
}
