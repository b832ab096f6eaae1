import type { Statement } from 'better-sqlite3';
import { type Compilable, DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import { quarantineScope } from './bookkeeping.ts';
import { type Database, openDatabase } from './database.ts';

/** The last commit on a subject, as far as it was applied. */
export interface SubjectHead {
  /** What the next append expects; it also counts messages that are none of ours. 0 = none. */
  streamSeq: number;
  commitId: string | null;
  /** Time of the last commit; the next one is never earlier. */
  at: string | null;
}

/** Why and from where the commits of a subject are no longer applied. */
export interface Damage {
  subject: string;
  streamSeq: number;
  reason: 'damaged' | 'inconsistent';
}

/** Queries inside one read transaction: all see the same moment, the heads among it. Nothing waits, nothing writes. */
export interface Reader<DB> {
  /** Builds typed queries; hand them to `all` or `first`. */
  readonly query: Kysely<DB>;
  all<Row>(query: Compilable<Row>): Row[];
  first<Row>(query: Compilable<Row>): Row | undefined;
  /** A statement of one's own, prepared once for each text: the quick way. */
  prepare<Parameters extends unknown[], Row = unknown>(sql: string): Statement<Parameters, Row>;
  head(subject: string): SubjectHead;
  headOf(subject: string): number;
  /** Null where the thread of the subject, or the subject itself, is sound. */
  damageOf(subject: string): Damage | null;
}

const KEPT_STATEMENTS = 500;

/** The read connection of a read model on the main thread. */
export class ReadConnection<DB> implements Reader<DB> {
  readonly query: Kysely<DB>;
  readonly #db: Database;
  readonly #statements = new Map<string, Statement>();
  #depth = 0;

  /** On a file, or on a connection that somebody else has open and closes. */
  constructor(source: string | Database) {
    this.#db = typeof source === 'string' ? openDatabase(source, { synchronous: 'NORMAL', readonly: true }) : source;
    this.query = new Kysely<DB>({
      dialect: {
        createAdapter: () => new SqliteAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (db) => new SqliteIntrospector(db),
        createQueryCompiler: () => new SqliteQueryCompiler(),
      },
    });
  }

  /** Runs a function in one read transaction; inside another one it sees the moment of that. */
  read<T>(fn: (reader: Reader<DB>) => T): T {
    if (this.#depth > 0) return fn(this);
    this.prepare('BEGIN').run();
    this.#depth += 1;
    try {
      const result = fn(this);
      if (result instanceof Promise) throw new TypeError('a read transaction cannot wait');
      return result;
    } finally {
      this.#depth -= 1;
      if (this.#db.inTransaction) this.prepare('COMMIT').run();
    }
  }

  prepare<Parameters extends unknown[], Row>(sql: string): Statement<Parameters, Row> {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      if (this.#statements.size >= KEPT_STATEMENTS) this.#statements.clear();
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement as unknown as Statement<Parameters, Row>;
  }

  all<Row>(query: Compilable<Row>): Row[] {
    const { sql, parameters } = query.compile();
    return this.prepare<unknown[][], Row>(sql).all([...parameters]);
  }

  first<Row>(query: Compilable<Row>): Row | undefined {
    const { sql, parameters } = query.compile();
    return this.prepare<unknown[][], Row>(sql).get([...parameters]);
  }

  head(subject: string): SubjectHead {
    const row = this.prepare<[string], SubjectHead>(
      'SELECT stream_seq AS streamSeq, commit_id AS commitId, at FROM subject_heads WHERE subject = ?',
    ).get(subject);
    return row ?? { streamSeq: 0, commitId: null, at: null };
  }

  headOf(subject: string): number {
    return this.head(subject).streamSeq;
  }

  damageOf(subject: string): Damage | null {
    const row = this.prepare<[string], Damage>(
      'SELECT subject, stream_seq AS streamSeq, reason FROM quarantine WHERE scope = ?',
    ).get(quarantineScope(subject));
    return row ?? null;
  }

  close(): void {
    this.#statements.clear();
    this.#db.close();
  }
}
