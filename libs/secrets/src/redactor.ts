import { GramIndex, gramChars } from './gram-index.ts';

/** What stands in place of a protected value. */
export const redacted = '[redacted]';

/** Redacts one text that comes in pieces. */
export interface RedactingStream {
  /** Takes the next piece and returns what may be passed on now. */
  push(piece: string): string;
  /** Returns what was held back; the stream is over. */
  end(): string;
}

/**
 * Knows protected values, present and former, and finds them: a text that is one, and any run of eight or more
 * characters of one within a text, also in the escaped form that it has inside JSON.
 */
export class Redactor {
  readonly #whole = new Set<string>();
  readonly #grams = new GramIndex();

  constructor(values: Iterable<string> = []) {
    for (const value of values) this.add(value);
  }

  /** Protects one more value from now on; a rotated value stays protected. An empty one is ignored. */
  add(value: string): void {
    if (value === '' || this.#whole.has(value)) return;
    this.#whole.add(value);
    this.#grams.add(value);
    const escaped = JSON.stringify(value).slice(1, -1);
    if (escaped !== value) this.#grams.add(escaped);
  }

  /** True where a JSON-safe value holds a protected one in any string or key, at any depth. */
  contains(value: unknown): boolean {
    if (typeof value === 'string') return this.#whole.has(value) || this.#grams.find(value) >= 0;
    if (typeof value !== 'object' || value === null) return false;
    if (Array.isArray(value)) return value.some((entry) => this.contains(entry));
    return Object.entries(value).some(([key, entry]) => this.contains(key) || this.contains(entry));
  }

  /** The text with every protected part replaced. */
  redact(text: string): string {
    if (this.#whole.has(text)) return redacted;
    const ranges = this.#grams.ranges(text);
    if (ranges.length === 0) return text;
    let out = '';
    let at = 0;
    for (const [start, end] of ranges) {
      out += text.slice(at, start) + redacted;
      at = end;
    }
    return out + text.slice(at);
  }

  /** A copy of a JSON-safe value with every protected part of its strings and keys replaced; itself where there is none. */
  redactValue(value: unknown): unknown {
    if (!this.contains(value)) return value;
    if (typeof value === 'string') return this.redact(value);
    if (Array.isArray(value)) return value.map((entry) => this.redactValue(entry));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [this.redact(key), this.redactValue(entry)]));
  }

  /**
   * Redacts a text that comes in pieces, without waiting for its end: only an end of four to seven characters that may
   * grow into a run is held back. At most three characters of a run can pass, and values shorter than eight, which are
   * protected as a whole value only, are not looked for.
   */
  stream(): RedactingStream {
    return new PieceRedactor(this.#grams);
  }
}

class PieceRedactor implements RedactingStream {
  readonly #grams: GramIndex;
  /** Raw characters that are still needed to see a run: up to seven that were decided, then those held back. */
  #raw = '';
  #decided = 0;
  /** The last decided character was part of a run, so that its end needs no second mark. */
  #inRun = false;

  constructor(grams: GramIndex) {
    this.#grams = grams;
  }

  push(piece: string): string {
    this.#raw += piece;
    return this.#decide(this.#raw.length - this.#grams.openEnd(this.#raw));
  }

  end(): string {
    return this.#decide(this.#raw.length);
  }

  #decide(limit: number): string {
    let out = '';
    let at = this.#decided;
    for (const [start, end] of this.#grams.ranges(this.#raw)) {
      if (end <= at) continue;
      const from = Math.max(start, at);
      if (from > at) {
        out += this.#raw.slice(at, from);
        this.#inRun = false;
      }
      if (!this.#inRun) out += redacted;
      this.#inRun = true;
      at = end;
    }
    if (limit > at) {
      out += this.#raw.slice(at, limit);
      this.#inRun = false;
      at = limit;
    }
    const keep = Math.max(0, at - (gramChars - 1));
    this.#raw = this.#raw.slice(keep);
    this.#decided = at - keep;
    return out;
  }
}
