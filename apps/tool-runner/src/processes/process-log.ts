import {
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { limits } from '@rookery/protocol';
import { decodePage } from './utf8-page.ts';

const HALF = limits.processWindowBytes / 2;
/** From this size on the kept tail can be copied down without meeting itself. */
const FOLD_AT = HALF * 3;

/** One page of output by absolute byte cursors. */
export interface LogPage {
  readonly output: string;
  readonly cursor: number;
  readonly nextCursor: number;
  /** Whether there is more to read now. */
  readonly hasMore: boolean;
}

/**
 * The output file of one command. The command writes to it by itself, so that it needs no runner to go on. Of a long
 * output the first and last 512 KiB are kept and the middle is dropped in place; cursors count every byte ever written.
 * NOTE: all reading and folding is synchronous, so that no page sees half a fold.
 */
export class ProcessLog {
  readonly #path: string;
  #omitted: number;

  constructor(path: string, omittedBytes: number) {
    this.#path = path;
    this.#omitted = omittedBytes;
  }

  /** Bytes dropped from the middle so far. */
  get omittedBytes(): number {
    return this.#omitted;
  }

  /** All bytes that the command has written. */
  get total(): number {
    return (statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0) + this.#omitted;
  }

  /** The page at a cursor, or null where the cursor lies behind the end. `ended`: nothing more will be written. */
  page(cursor: number, ended: boolean, maxBytes: number = limits.processPageBytes): LogPage | null {
    const total = this.total;
    if (cursor > total) return null;
    const resume = HALF + this.#omitted;
    const skips = this.#omitted > 0 && cursor >= HALF && cursor < resume;
    const at = skips ? resume : cursor;
    const mark = skips ? this.#mark(resume - cursor) : '';
    const limit = maxBytes - mark.length;
    const beforeGap = this.#omitted > 0 && at < HALF;
    const end = Math.min(total, at + limit, beforeGap ? HALF : total);
    const bytes = this.#read(at < HALF || this.#omitted === 0 ? at : at - this.#omitted, end - at);
    const final = beforeGap ? end === HALF : ended && end === total;
    const { text, used } = decodePage(bytes, { limit, skipPartial: skips, final });
    // An unfinished character at the end of a running command's output is not yet there to be read.
    const hasMore = end < total || (final && at + used < total) || end - (at + used) > 3;
    return { output: mark + text, cursor, nextCursor: at + used, hasMore };
  }

  /** The last bytes of the output as text. */
  tail(maxBytes: number): string {
    const total = this.total;
    const length = Math.min(maxBytes, total - this.#omitted);
    const bytes = this.#read(total - this.#omitted - length, length);
    return decodePage(bytes, { limit: maxBytes, skipPartial: length < total, final: true }).text;
  }

  /** Drops the middle of a growing output; tells whether it did. Call it often while the command runs. */
  foldWhileRunning(): boolean {
    if (this.total - this.#omitted < FOLD_AT) return false;
    const file = openSync(this.#path, 'r+');
    try {
      let end = fstatSync(file).size;
      const from = end - HALF;
      let kept = HALF;
      copyDown(file, from, HALF, HALF);
      // What the command appends meanwhile goes along; only between the last look and the cut a write could be lost.
      for (let size = fstatSync(file).size; size > end; size = fstatSync(file).size) {
        copyDown(file, end, size - end, HALF + kept);
        kept += size - end;
        end = size;
      }
      ftruncateSync(file, HALF + kept);
      this.#omitted += from - HALF;
    } finally {
      closeSync(file);
    }
    return true;
  }

  /** Brings the output of a command that has ended down to 1 MiB; tells whether it had to. */
  foldAfterEnd(): boolean {
    const size = this.total - this.#omitted;
    if (size <= HALF * 2) return false;
    const temporary = `${this.#path}.tmp`;
    writeFileSync(temporary, Buffer.concat([this.#read(0, HALF), this.#read(size - HALF, HALF)]), { mode: 0o600 });
    renameSync(temporary, this.#path);
    this.#omitted += size - HALF * 2;
    return true;
  }

  #mark(bytes: number): string {
    const endsLine = this.#read(HALF - 1, 1)[0] === 10;
    return `${endsLine ? '' : '\n'}... ${bytes} bytes omitted ...\n`;
  }

  #read(position: number, length: number): Buffer {
    if (length <= 0) return Buffer.alloc(0);
    const file = openSync(this.#path, 'r');
    try {
      const buffer = Buffer.alloc(length);
      return buffer.subarray(0, readSync(file, buffer, 0, length, position));
    } finally {
      closeSync(file);
    }
  }
}

function copyDown(file: number, from: number, length: number, to: number): void {
  const buffer = Buffer.alloc(length);
  const read = readSync(file, buffer, 0, length, from);
  writeSync(file, buffer, 0, read, to);
}
