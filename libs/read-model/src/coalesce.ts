import type { SqlValue, Write } from '@rookery/kernel';

const keyText = (names: readonly string[], values: Readonly<Record<string, SqlValue>>): string | null => {
  const parts: string[] = [];
  for (const name of names) {
    const value = values[name];
    if (value === undefined || value instanceof Uint8Array) return null;
    parts.push(`${typeof value}:${String(value)}`);
  }
  return parts.join('\u0000');
};

/**
 * Leaves out inserts into transient tables that a later write of the same transaction deletes again. The rows after the
 * transaction are the same.
 */
export function coalesce(writes: readonly Write[], transient: ReadonlySet<string>): readonly Write[] {
  if (!writes.some((write) => write.op === 'delete' && transient.has(write.table))) return writes;
  // By table and the names in a delete's key: the keys that a later write deletes.
  const deleted = new Map<string, { names: string[]; table: string; keys: Set<string> }>();
  const kept: Write[] = [];
  for (const write of writes.toReversed()) {
    if (transient.has(write.table)) {
      if (write.op === 'delete') {
        const names = Object.keys(write.key).sort();
        const id = `${write.table} ${names.join(',')}`;
        const entry = deleted.get(id) ?? { names, table: write.table, keys: new Set<string>() };
        deleted.set(id, entry);
        const text = keyText(names, write.key);
        if (text !== null) entry.keys.add(text);
      } else if (write.op === 'insert') {
        const row = { ...write.key, ...write.set };
        const gone = [...deleted.values()].some((entry) => {
          const text = entry.table === write.table ? keyText(entry.names, row) : null;
          return text !== null && entry.keys.has(text);
        });
        if (gone) continue;
      }
    }
    kept.push(write);
  }
  return kept.reverse();
}
