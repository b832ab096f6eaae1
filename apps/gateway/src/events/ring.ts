import type { HubEvent } from './hub-event.ts';

/** The newest events in memory, bounded in number and size, in rising order of seq. */
export class EventRing {
  readonly #capacity: number;
  readonly #capacityChars: number;
  #events: HubEvent[] = [];
  /** Events before this index are given up. */
  #start = 0;
  #chars = 0;
  #base = 0;

  constructor(capacity: number, capacityChars: number) {
    this.#capacity = capacity;
    this.#capacityChars = capacityChars;
  }

  /** Everything after this seq is here; it is the seq of the last conversation event before, 0 for none. */
  get base(): number {
    return this.#base;
  }

  get size(): number {
    return this.#events.length - this.#start;
  }

  /** Begins anew after a seq. */
  reset(base: number): void {
    this.#events = [];
    this.#start = 0;
    this.#chars = 0;
    this.#base = base;
  }

  push(event: HubEvent): void {
    this.#events.push(event);
    this.#chars += event.body.length;
    while (this.size > this.#capacity || (this.#chars > this.#capacityChars && this.size > 1)) this.#dropFirst();
    if (this.#start > this.#capacity) {
      this.#events = this.#events.slice(this.#start);
      this.#start = 0;
    }
  }

  /** Events after a seq, oldest first. */
  *after(seq: number): Generator<HubEvent> {
    for (let at = this.#firstAfter(seq); at < this.#events.length; at += 1) yield this.#events[at] as HubEvent;
  }

  /** Events up to and with a seq, newest first. */
  *backFrom(seq: number): Generator<HubEvent> {
    for (let at = this.#firstAfter(seq) - 1; at >= this.#start; at -= 1) yield this.#events[at] as HubEvent;
  }

  #firstAfter(seq: number): number {
    let low = this.#start;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#events[middle] as HubEvent).seq <= seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #dropFirst(): void {
    const first = this.#events[this.#start] as HubEvent;
    // The slot would keep the text alive until the next compaction.
    this.#events[this.#start] = { ...first, body: '' };
    this.#start += 1;
    this.#chars -= first.body.length;
    this.#base = first.seq;
  }
}
