import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** Bytes after which a log is put aside, and how many of those are kept. */
const maxBytes = 10 * 1024 * 1024;
const kept = 3;

export interface LogFileOptions {
  /** Bytes after which the file is put aside. */
  limit?: number;
  /** Hears that lines are left out, and that they no longer are. */
  say?(text: string): void;
}

/**
 * An append-only log that is put aside as `<file>.1`, `<file>.2`, … by size. A line that cannot be written (a full disk) is
 * left out and counted: the processes that are logged, and the one that logs, are worth more than the log.
 */
export class LogFile {
  readonly path: string;
  readonly #limit: number;
  readonly #say: (text: string) => void;
  #fd: number;
  #size: number;
  /** Lines left out since the last one that was written. */
  #missed = 0;
  /** The last write broke off within a line. */
  #torn = false;

  constructor(path: string, { limit = maxBytes, say = () => {} }: LogFileOptions = {}) {
    this.path = path;
    this.#limit = limit;
    this.#say = say;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    this.#fd = openSync(path, 'a', 0o600);
    this.#size = fstatSync(this.#fd).size;
  }

  /** Appends a line that ends in a line break. Never throws. */
  write(text: string): void {
    try {
      const bytes = Buffer.from(this.#torn ? `\n${text}` : text);
      if (this.#size > 0 && this.#size + bytes.length > this.#limit) this.#rotate();
      const written = writeSync(this.#fd, bytes);
      this.#size += written;
      this.#torn = written < bytes.length;
      if (this.#torn) throw new Error('no more than a part of a line could be written');
      if (this.#missed > 0) this.#say(`${this.path} is written again; ${this.#missed} lines are missing in it`);
      this.#missed = 0;
    } catch (error) {
      this.#missed += 1;
      if (this.#missed > 1) return;
      const reason = error instanceof Error ? error.message : String(error);
      this.#say(`${this.path} cannot be written (${reason}); its lines are left out until it can`);
    }
  }

  close(): void {
    closeSync(this.#fd);
  }

  #rotate(): void {
    // The new file first: where it cannot be made, the present one stays open and in place.
    const fresh = `${this.path}.new`;
    const fd = openSync(fresh, 'w', 0o600);
    for (let age = kept - 1; age >= 0; age -= 1) {
      try {
        renameSync(age === 0 ? this.path : `${this.path}.${age}`, `${this.path}.${age + 1}`);
      } catch {
        // That age does not exist yet.
      }
    }
    renameSync(fresh, this.path);
    closeSync(this.#fd);
    this.#fd = fd;
    this.#size = 0;
  }
}
