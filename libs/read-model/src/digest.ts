import { createHash, type Hash } from 'node:crypto';
import { bookkeepingTables } from './bookkeeping.ts';
import type { Database } from './database.ts';

type Value = string | bigint | number | null | Uint8Array;

/** What stands for the digest of a table that cannot be read. */
export const UNREADABLE = 'unreadable';
/** Rows of a table that are read without a pause. */
const ROWS_AT_ONCE = 500;

const encode = (value: Value): string => {
  if (value === null) return 'n';
  if (typeof value === 'string') return `s${JSON.stringify(value)}`;
  if (value instanceof Uint8Array) return `b${Buffer.from(value).toString('hex')}`;
  return `${typeof value === 'bigint' ? 'i' : 'r'}${value}`;
};

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** The hash of a table before its rows, and its rows in key order. */
function openTable(db: Database, table: string): { hash: Hash; rows: IterableIterator<Value[]> } {
  const columns = db
    .prepare<[string], { name: string; pk: number }>('SELECT name, pk FROM pragma_table_info(?) ORDER BY name')
    .all(table);
  const key = columns.filter((column) => column.pk > 0).sort((a, b) => a.pk - b.pk);
  const order = (key.length > 0 ? key : columns).map((column) => quoted(column.name)).join(', ');
  const names = columns.map((column) => quoted(column.name)).join(', ');
  const rows = db
    .prepare<[], Value[]>(`SELECT ${names} FROM ${quoted(table)} ORDER BY ${order}`)
    .raw()
    .safeIntegers()
    .iterate();
  return { hash: createHash('sha256').update(`${columns.map((column) => column.name).join(',')}\n`), rows };
}

const encodeRow = (row: Value[]): string => `${row.map(encode).join(',')}\n`;

function tablesOf(db: Database): string[] {
  return db
    .prepare<[], { name: string }>(
      `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
       AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name`,
    )
    .all()
    .map((row) => row.name)
    .filter((name) => !bookkeepingTables.includes(name));
}

function digestTable(db: Database, table: string): string {
  const { hash, rows } = openTable(db, table);
  for (const row of rows) hash.update(encodeRow(row));
  return hash.digest('hex');
}

/**
 * SHA-256 of every table over all of its rows in key order, columns by name. Equal for two read models of the same
 * journal, however their commits were batched; what says how far a file is stays out.
 */
export function digest(db: Database): Record<string, string> {
  return db.transaction(() => Object.fromEntries(tablesOf(db).map((table) => [table, digestTable(db, table)])))();
}

export interface Digested {
  /** By table. */
  digests: Record<string, string>;
  rows: number;
}

/**
 * The same of a connection that stands in a read transaction of its own, with pauses in which the thread does its other
 * work, and with the number of rows. A table that cannot be read is UNREADABLE. Null where `isOver` says so meanwhile.
 */
export async function digestWithPauses(db: Database, isOver: () => boolean): Promise<Digested | null> {
  const digests: Record<string, string> = {};
  let count = 0;
  let tables: string[] = [];
  try {
    tables = tablesOf(db);
  } catch {
    // Not even its list of tables can be read: every one of them differs.
  }
  for (const table of tables) {
    try {
      const { hash, rows } = openTable(db, table);
      for (const row of rows) {
        hash.update(encodeRow(row));
        count += 1;
        if (count % ROWS_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
        if (isOver()) return null;
      }
      digests[table] = hash.digest('hex');
    } catch {
      digests[table] = UNREADABLE;
    }
  }
  return { digests, rows: count };
}
