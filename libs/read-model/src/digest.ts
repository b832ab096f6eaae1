import { createHash } from 'node:crypto';
import { bookkeepingTables } from './bookkeeping.ts';
import type { Database } from './database.ts';

type Value = string | bigint | number | null | Uint8Array;

const encode = (value: Value): string => {
  if (value === null) return 'n';
  if (typeof value === 'string') return `s${JSON.stringify(value)}`;
  if (value instanceof Uint8Array) return `b${Buffer.from(value).toString('hex')}`;
  return `${typeof value === 'bigint' ? 'i' : 'r'}${value}`;
};

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

function digestTable(db: Database, table: string): string {
  const columns = db
    .prepare<[string], { name: string; pk: number }>('SELECT name, pk FROM pragma_table_info(?) ORDER BY name')
    .all(table);
  const key = columns.filter((column) => column.pk > 0).sort((a, b) => a.pk - b.pk);
  const order = (key.length > 0 ? key : columns).map((column) => quoted(column.name)).join(', ');
  const names = columns.map((column) => quoted(column.name)).join(', ');
  const rows = db
    .prepare<[], Value[]>(`SELECT ${names} FROM ${quoted(table)} ORDER BY ${order}`)
    .raw()
    .safeIntegers();
  const hash = createHash('sha256').update(`${columns.map((column) => column.name).join(',')}\n`);
  for (const row of rows.iterate()) hash.update(`${row.map(encode).join(',')}\n`);
  return hash.digest('hex');
}

/**
 * SHA-256 of every table over all of its rows in key order, columns by name. Equal for two read models of the same
 * journal, however their commits were batched; what says how far a file is stays out.
 */
export function digest(db: Database): Record<string, string> {
  const tables = db
    .prepare<[], { name: string }>(
      `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
       AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name`,
    )
    .all()
    .map((row) => row.name)
    .filter((name) => !bookkeepingTables.includes(name));
  return db.transaction(() => Object.fromEntries(tables.map((table) => [table, digestTable(db, table)])))();
}
