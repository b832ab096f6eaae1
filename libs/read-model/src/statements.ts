import type { SqlValue, Write } from '@rookery/kernel';
import type { Statement } from 'better-sqlite3';
import type { Database } from './database.ts';

const NAME = /^[a-z][a-z0-9_]*$/;

function checked(names: readonly string[]): readonly string[] {
  for (const name of names) if (!NAME.test(name)) throw new TypeError(`not a column or table name: ${name}`);
  return names;
}

const marks = (names: readonly string[]) => names.map(() => '?').join(', ');
const where = (names: readonly string[]) => names.map((name) => `${name} = ?`).join(' AND ');

function sqlOf(write: Write): string {
  const [table = ''] = checked([write.table]);
  const key = checked(Object.keys(write.key));
  const set = checked(Object.keys(write.set ?? {}));
  const add = checked(Object.keys(write.add ?? {}));
  const append = checked(Object.keys(write.append ?? {}));
  const all = [...key, ...set, ...add, ...append];
  const insert = `INSERT INTO ${table} (${all.join(', ')}) VALUES (${marks(all)})`;
  switch (write.op) {
    case 'insert':
      return insert;
    case 'upsert': {
      const changes = [
        ...set.map((name) => `${name} = excluded.${name}`),
        ...add.map((name) => `${name} = ${table}.${name} + excluded.${name}`),
        ...append.map((name) => `${name} = ${table}.${name} || excluded.${name}`),
      ];
      const action = changes.length === 0 ? 'NOTHING' : `UPDATE SET ${changes.join(', ')}`;
      return `${insert} ON CONFLICT (${key.join(', ')}) DO ${action}`;
    }
    case 'update': {
      const changes = [
        ...set.map((name) => `${name} = ?`),
        ...add.map((name) => `${name} = ${name} + ?`),
        ...append.map((name) => `${name} = ${name} || ?`),
      ];
      return `UPDATE ${table} SET ${changes.join(', ')} WHERE ${where(key)}`;
    }
    case 'delete':
      return `DELETE FROM ${table} WHERE ${where(key)}`;
  }
}

/** Names of a record's members as one text: two writes of the same shape share a statement. */
const shape = (record: object | undefined): string => {
  let text = '';
  for (const name in record) text += `${name},`;
  return text;
};

function valuesOf(write: Write): SqlValue[] {
  const key = Object.values(write.key);
  if (key.length === 0 || key.includes(null)) throw new TypeError(`a write to ${write.table} has no whole key`);
  if (write.op === 'delete') return key;
  const rest: SqlValue[] = [];
  for (const part of [write.set, write.add, write.append]) if (part !== undefined) rest.push(...Object.values(part));
  return write.op === 'update' ? [...rest, ...key] : [...key, ...rest];
}

/** Performs writes with statements that are prepared once a shape. */
export class WriteStatements {
  readonly #db: Database;
  readonly #statements = new Map<string, Statement>();

  constructor(db: Database) {
    this.#db = db;
  }

  run(write: Write): void {
    const id = `${write.op} ${write.table} ${shape(write.key)}|${shape(write.set)}|${shape(write.add)}|${shape(write.append)}`;
    const values = valuesOf(write);
    let statement = this.#statements.get(id);
    if (statement === undefined) {
      statement = this.#db.prepare(sqlOf(write));
      this.#statements.set(id, statement);
    }
    statement.run(values);
  }
}
