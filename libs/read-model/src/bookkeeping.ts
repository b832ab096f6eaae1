import type { Projection } from '@rookery/kernel';
import { canonicalSha256, parseSubject, threadFilter } from '@rookery/protocol';
import type { Database } from './database.ts';

/** Tables that every read model has beside those of its projection. */
const ddl = [
  `CREATE TABLE checkpoint (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    version TEXT NOT NULL,
    stream_created TEXT,
    journal_id TEXT,
    applied_seq INTEGER NOT NULL,
    last_seq INTEGER,
    last_id TEXT,
    previous_seq INTEGER,
    previous_id TEXT,
    applied_count INTEGER NOT NULL,
    foreign_count INTEGER NOT NULL,
    skipped_count INTEGER NOT NULL
  ) STRICT`,
  // commit_id and at are those of the last commit of ours; stream_seq also counts foreign messages.
  `CREATE TABLE subject_heads (
    subject TEXT PRIMARY KEY,
    stream_seq INTEGER NOT NULL,
    commit_id TEXT,
    at TEXT
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE erasures (
    from_seq INTEGER PRIMARY KEY,
    to_seq INTEGER NOT NULL CHECK (to_seq >= from_seq)
  ) STRICT`,
  `CREATE TABLE quarantine (
    scope TEXT PRIMARY KEY,
    subject TEXT NOT NULL,
    stream_seq INTEGER NOT NULL,
    reason TEXT NOT NULL CHECK (reason IN ('damaged', 'inconsistent')),
    detail TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
];

/** Tables that say how far a read model is; their rows depend on when it ran. */
export const bookkeepingTables: readonly string[] = ['checkpoint', 'erasures'];

export interface CommitMark {
  seq: number;
  id: string;
}

/** How far a read model has come, and by what it knows its journal again. */
export interface Checkpoint {
  /** Creation time of the stream and id of the journal; null before the first look at them. */
  created: string | null;
  journalId: string | null;
  /** Last stream sequence that was dealt with, foreign messages included. */
  appliedSeq: number;
  /** The last two applied commits, newest first. */
  marks: readonly CommitMark[];
  appliedCount: number;
  foreignCount: number;
  /** Commits of quarantined threads, and the damaged ones themselves. */
  skippedCount: number;
}

export interface QuarantineRow {
  scope: string;
  subject: string;
  stream_seq: number;
  reason: 'damaged' | 'inconsistent';
  detail: string;
}

/** Version that stands in the file: that of the projection and that of the tables beside it. */
export function fileVersion(projection: Projection): string {
  return canonicalSha256({ projection: projection.version, ddl });
}

/** Creates all tables of a read model in an empty file. */
export function createTables(db: Database, projection: Projection): void {
  db.transaction(() => {
    for (const statement of [...ddl, ...projection.ddl]) db.exec(statement);
    db.prepare(
      `INSERT INTO checkpoint (id, version, applied_seq, applied_count, foreign_count, skipped_count)
       VALUES (1, ?, 0, 0, 0, 0)`,
    ).run(fileVersion(projection));
  })();
}

/** The version that a file was made with, null where it has none. */
export function readVersion(db: Database): string | null {
  const named = db.prepare<[], { name: string }>(`SELECT name FROM sqlite_master WHERE name = 'checkpoint'`).get();
  if (named === undefined) return null;
  const columns = db.prepare<[], { name: string }>(`SELECT name FROM pragma_table_info('checkpoint')`).all();
  if (!columns.some((column) => column.name === 'version')) return null;
  return db.prepare<[], { version: string }>('SELECT version FROM checkpoint').get()?.version ?? null;
}

interface CheckpointRow {
  stream_created: string | null;
  journal_id: string | null;
  applied_seq: number;
  last_seq: number | null;
  last_id: string | null;
  previous_seq: number | null;
  previous_id: string | null;
  applied_count: number;
  foreign_count: number;
  skipped_count: number;
}

/** Reads the checkpoint of a read model. */
export function readCheckpoint(db: Database): Checkpoint {
  const row = db.prepare<[], CheckpointRow>('SELECT * FROM checkpoint').get();
  if (row === undefined) throw new TypeError('the read model has no checkpoint');
  const mark = (seq: number | null, id: string | null) => (seq === null || id === null ? [] : [{ seq, id }]);
  return {
    created: row.stream_created,
    journalId: row.journal_id,
    appliedSeq: row.applied_seq,
    marks: [...mark(row.last_seq, row.last_id), ...mark(row.previous_seq, row.previous_id)],
    appliedCount: row.applied_count,
    foreignCount: row.foreign_count,
    skippedCount: row.skipped_count,
  };
}

/** What a damaged commit takes out of service: its thread, elsewhere its subject. */
export function quarantineScope(subject: string): string {
  const parsed = parseSubject(subject);
  return parsed !== null && 'threadId' in parsed ? threadFilter(parsed.world, parsed.threadId) : subject;
}
