/** One matching line. */
export interface Hit {
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  /** The line without its line end; at least its first 2,000 characters. */
  readonly text: string;
}

/** What is kept of one record: the longest path and more than the shown part of a line. */
const MAX_RECORD_BYTES = 16 * 1024;

/** More than this is never kept of one batch; an answer shows far less. In UTF-16 code units. */
export const MAX_KEPT = 16 * 1024 * 1024;

/** Reads ripgrep's records `path NUL number : line LF` from pieces; of a long line only the beginning is kept. */
export class HitParser {
  readonly hits: Hit[] = [];
  #pending = Buffer.alloc(0);
  #skipping = false;
  #kept = 0;

  /** Whether so much was kept that the rest can be left alone. */
  get full(): boolean {
    return this.#kept > MAX_KEPT;
  }

  push(chunk: Buffer): void {
    let rest = chunk;
    if (this.#skipping) {
      const end = rest.indexOf(10);
      if (end < 0) return;
      rest = rest.subarray(end + 1);
      this.#skipping = false;
    }
    let buffer = this.#pending.length === 0 ? rest : Buffer.concat([this.#pending, rest]);
    for (;;) {
      // A path may hold LF, so a record ends at the first LF after its NUL.
      const nul = buffer.indexOf(0);
      const end = nul < 0 ? -1 : buffer.indexOf(10, nul);
      if (end < 0) break;
      this.#take(buffer.subarray(0, Math.min(end, MAX_RECORD_BYTES)), nul);
      buffer = buffer.subarray(end + 1);
    }
    const nul = buffer.indexOf(0);
    if (nul >= 0 && buffer.length > MAX_RECORD_BYTES) {
      this.#take(buffer.subarray(0, MAX_RECORD_BYTES), nul);
      this.#skipping = true;
      buffer = Buffer.alloc(0);
    }
    this.#pending = Buffer.from(buffer);
  }

  #take(record: Buffer, nul: number): void {
    const colon = record.indexOf(58, nul);
    const text = record.subarray(colon + 1).toString('utf8');
    this.#kept += text.length;
    const line = Number(record.subarray(nul + 1, colon).toString('latin1'));
    this.hits.push({ file: record.subarray(0, nul).toString('utf8'), line, text: text.replace(/\r$/, '') });
  }
}
