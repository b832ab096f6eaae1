import type { Write } from '@rookery/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coalesce } from './coalesce.ts';
import { openDatabase } from './database.ts';
import { WriteStatements } from './statements.ts';

const transient = new Set(['chunks']);
const chunk = (item: string, ordinal: number): Write => ({
  table: 'chunks',
  op: 'insert',
  key: { item, ordinal },
  set: { text: `${item}${ordinal}` },
});
const end = (item: string): Write => ({ table: 'chunks', op: 'delete', key: { item } });

describe('coalescing', () => {
  it('leaves out chunks that the same transaction ends, and keeps the end for those of earlier ones', () => {
    expect(coalesce([chunk('a', 1), chunk('b', 2), end('a')], transient)).toEqual([chunk('b', 2), end('a')]);
  });

  it('keeps a chunk behind the end, and tables that are not transient', () => {
    const writes = [end('a'), chunk('a', 1)];
    expect(coalesce(writes, transient)).toEqual(writes);
    expect(coalesce([chunk('a', 1), end('a')], new Set())).toEqual([chunk('a', 1), end('a')]);
  });

  it('gives the same rows as writing everything', () => {
    const item = fc.constantFrom('a', 'b', '1');
    const write = fc.oneof(
      fc.tuple(item, fc.nat(99)).map(([name]) => ({ name, end: false })),
      item.map((name) => ({ name, end: true })),
    );
    fc.assert(
      fc.property(fc.array(write, { maxLength: 20 }), (steps) => {
        const writes = steps.map((step, index) => (step.end ? end(step.name) : chunk(step.name, index)));
        expect(rowsAfter(coalesce(writes, transient))).toEqual(rowsAfter(writes));
      }),
      { numRuns: 50 },
    );
  });
});

function rowsAfter(writes: readonly Write[]): unknown[] {
  const db = openDatabase(':memory:', { synchronous: 'NORMAL' });
  db.exec('CREATE TABLE chunks (item TEXT, ordinal INTEGER, text TEXT, PRIMARY KEY (item, ordinal)) STRICT');
  const statements = new WriteStatements(db);
  for (const write of writes) statements.run(write);
  const rows = db.prepare('SELECT * FROM chunks ORDER BY item, ordinal').all();
  db.close();
  return rows;
}

describe('writes', () => {
  const db = openDatabase(':memory:', { synchronous: 'NORMAL' });
  db.exec('CREATE TABLE t (id TEXT PRIMARY KEY, note TEXT, n INTEGER, text TEXT) STRICT');
  const statements = new WriteStatements(db);
  const row = () => db.prepare('SELECT * FROM t').all();

  it('add to numbers and append to texts, from nothing too', () => {
    const more: Write = {
      table: 't',
      op: 'upsert',
      key: { id: 'a' },
      set: { note: 'x' },
      add: { n: 2 },
      append: { text: 'ab' },
    };
    statements.run(more);
    expect(row()).toEqual([{ id: 'a', note: 'x', n: 2, text: 'ab' }]);
    statements.run({ ...more, set: { note: 'y' } });
    statements.run({ table: 't', op: 'update', key: { id: 'a' }, add: { n: -1 }, append: { text: '!' } });
    expect(row()).toEqual([{ id: 'a', note: 'y', n: 3, text: 'abab!' }]);
    statements.run({ table: 't', op: 'upsert', key: { id: 'a' } });
    statements.run({ table: 't', op: 'delete', key: { id: 'a' } });
    expect(row()).toEqual([]);
  });

  it('refuse names that are none, and a key with a hole', () => {
    expect(() => statements.run({ table: 't; DROP TABLE t', op: 'delete', key: { id: 'a' } })).toThrow(TypeError);
    expect(() => statements.run({ table: 't', op: 'delete', key: {} })).toThrow(TypeError);
    expect(() => statements.run({ table: 't', op: 'update', key: { id: null }, set: { note: 'x' } })).toThrow(
      TypeError,
    );
  });
});
