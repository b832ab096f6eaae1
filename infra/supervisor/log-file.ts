import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** Bytes after which a log is put aside, and how many of those are kept. */
const maxBytes = 10 * 1024 * 1024;
const kept = 3;

/** An append-only log that is put aside as `<file>.1`, `.2`, … by size. */
export class LogFile {
  readonly path: string;
  readonly limit: number;
  #fd: number;
  #size: number;

  constructor(path: string, limit = maxBytes) {
    this.path = path;
    this.limit = limit;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    this.#fd = openSync(path, 'a', 0o600);
    this.#size = fstatSync(this.#fd).size;
  }

  write(text: string): void {
    if (this.#size > 0 && this.#size + text.length > this.limit) this.#rotate();
    this.#size += writeSync(this.#fd, text);
  }

  close(): void {
    closeSync(this.#fd);
  }

  #rotate(): void {
    closeSync(this.#fd);
    for (let age = kept - 1; age >= 0; age -= 1) {
      try {
        renameSync(age === 0 ? this.path : `${this.path}.${age}`, `${this.path}.${age + 1}`);
      } catch {
        // That age does not exist yet.
      }
    }
    this.#fd = openSync(this.path, 'a', 0o600);
    this.#size = 0;
  }
}
