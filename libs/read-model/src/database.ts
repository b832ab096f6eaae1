import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';

export type Database = Sqlite.Database;

export interface DatabaseOptions {
  /** NORMAL for what can be rebuilt from the journal, FULL for what cannot. */
  synchronous: 'NORMAL' | 'FULL';
  /** Default false. */
  readonly?: boolean;
}

const BUSY_MS = 5000;
/** Pages of a connection stay below this many KiB: several connections live in one process. */
const CACHE_KIB = 4096;
const JOURNAL_BYTES = 64 * 1024 * 1024;
/** Pages of the write-ahead log before it goes into the file: hot pages are copied and synced a quarter as often. */
const CHECKPOINT_PAGES = 4000;

function createPrivate(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // The content is a person's; SQLite gives its side files the mode of the main one.
  closeSync(openSync(path, 'a', 0o600));
}

/** Opens a SQLite file (or `:memory:`) in WAL mode with foreign keys on; makes it and its folder where they are missing. */
export function openDatabase(path: string, options: DatabaseOptions): Database {
  const readonly = options.readonly ?? false;
  if (!readonly && path !== ':memory:') createPrivate(path);
  const db = new Sqlite(path, { readonly, timeout: BUSY_MS });
  try {
    if (!readonly) {
      db.pragma('journal_mode = WAL');
      db.pragma(`synchronous = ${options.synchronous}`);
      db.pragma(`journal_size_limit = ${JOURNAL_BYTES}`);
      if (options.synchronous === 'NORMAL') db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    }
    db.pragma('foreign_keys = ON');
    db.pragma(`cache_size = -${CACHE_KIB}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

const codeOf = (error: unknown): string => {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
};

/** True for an error that says that the file is no sound database. */
export function isCorruption(error: unknown): boolean {
  const code = codeOf(error);
  return code.startsWith('SQLITE_CORRUPT') || code.startsWith('SQLITE_NOTADB');
}

/** True for an error that a row causes, not the file. */
export function isConstraint(error: unknown): boolean {
  const code = codeOf(error);
  return code.startsWith('SQLITE_CONSTRAINT') || code === 'SQLITE_MISMATCH';
}

/** True for an error that can pass: no space, no memory, a busy file. */
export function isPassing(error: unknown): boolean {
  return /^SQLITE_(FULL|IOERR|BUSY|LOCKED|NOMEM|CANTOPEN|READONLY)/.test(codeOf(error));
}
