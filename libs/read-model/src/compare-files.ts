import { type Database, openDatabase } from './database.ts';
import { type Digested, digestWithPauses } from './digest.ts';
import type { RebuildResult } from './worker-messages.ts';

/** A read transaction on a file as it is now; null where the file cannot be read at all. */
export function openSnapshot(path: string): Database | null {
  let db: Database | null = null;
  try {
    db = openDatabase(path, { synchronous: 'NORMAL', readonly: true });
    db.exec('BEGIN');
    db.prepare('SELECT applied_seq FROM checkpoint').get();
    return db;
  } catch {
    db?.close();
    return null;
  }
}

/** Digests of both files at one sequence, and the tables in which they differ; null where `isOver` says so meanwhile. */
export async function compareFiles(
  before: Database | null,
  after: Database | null,
  appliedSeq: number,
  isOver: () => boolean,
): Promise<RebuildResult | null> {
  const none: Digested = { digests: {}, rows: 0 };
  const old = before === null ? none : await digestWithPauses(before, isOver);
  const built = after === null ? none : await digestWithPauses(after, isOver);
  if (old === null || built === null) return null;
  const tables = new Set([...Object.keys(old.digests), ...Object.keys(built.digests)]);
  const differences = [...tables].filter((table) => old.digests[table] !== built.digests[table]).sort();
  return { digestsBefore: old.digests, digestsAfter: built.digests, differences, appliedSeq, rows: built.rows };
}
