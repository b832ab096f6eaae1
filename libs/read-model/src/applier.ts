import type { RawMessage } from '@rookery/journal';
import type { Projection } from '@rookery/kernel';
import type { Statement } from 'better-sqlite3';
import { type Checkpoint, type QuarantineRow, readCheckpoint } from './bookkeeping.ts';
import { coalesce } from './coalesce.ts';
import { type Database, isConstraint } from './database.ts';
import { type Plan, planBatch, type Stop } from './plan.ts';
import { WriteStatements } from './statements.ts';

export interface Applied {
  /** The commits that were applied and are to be handed out, in order: not the foreign, damaged and quarantined ones. */
  accepted: RawMessage[];
  stop: Stop | null;
}

/** Bounds of one transaction: what a kill loses is small, what a reader waits for too. */
const MAX_MESSAGES = 1000;
const MAX_BYTES = 4 * 1024 * 1024;

/** Cuts a batch into pieces that fit one transaction each. */
function* pieces(messages: readonly RawMessage[]): Generator<readonly RawMessage[]> {
  let start = 0;
  let bytes = 0;
  for (const [index, message] of messages.entries()) {
    if (index > start && (index - start >= MAX_MESSAGES || bytes + message.data.length > MAX_BYTES)) {
      yield messages.slice(start, index);
      start = index;
      bytes = 0;
    }
    bytes += message.data.length;
  }
  if (start < messages.length) yield messages.slice(start);
}

/** Applies messages of a stream to the file of a read model: rows, heads and checkpoint in one transaction. */
export class Applier {
  readonly #projection: Projection;
  readonly #handOut: ReadonlySet<string> | null;
  readonly #transient: ReadonlySet<string>;
  readonly #statements: WriteStatements;
  readonly #quarantined: Set<string>;
  readonly #prepared: ReturnType<typeof prepare>;
  readonly #transaction: (plan: Plan) => void;
  #checkpoint: Checkpoint;

  /** `handOut` names the event types whose commits are handed out; null = all. */
  constructor(db: Database, projection: Projection, handOut: readonly string[] | null = null) {
    this.#projection = projection;
    this.#handOut = handOut === null ? null : new Set(handOut);
    this.#transient = new Set(projection.transient);
    this.#statements = new WriteStatements(db);
    this.#prepared = prepare(db);
    this.#checkpoint = readCheckpoint(db);
    this.#quarantined = new Set(db.prepare<[], string>('SELECT scope FROM quarantine').pluck().all());
    this.#transaction = db.transaction((plan: Plan) => this.#write(plan)).immediate;
  }

  get checkpoint(): Checkpoint {
    return this.#checkpoint;
  }

  get quarantined(): number {
    return this.#quarantined.size;
  }

  /** Records what the journal is known by; only for a read model that has applied nothing. */
  adopt(created: string, journalId: string): void {
    const checkpoint = { ...this.#checkpoint, created, journalId };
    this.#prepared.saveCheckpoint(checkpoint);
    this.#checkpoint = checkpoint;
  }

  /** True where all sequences of a range are on record as erased. */
  isErased(fromSeq: number, toSeq: number): boolean {
    let next = fromSeq;
    for (const range of this.#prepared.erasures.all(fromSeq, toSeq)) {
      if (range.from_seq > next) return false;
      next = Math.max(next, range.to_seq + 1);
    }
    return next > toSeq;
  }

  /**
   * Applies messages in stream order, each once. SQLite's own errors pass through; nothing of their transaction is kept,
   * while those before it are committed: a caller that brings its own `accepted` finds their commits there.
   */
  apply(messages: readonly RawMessage[], accepted: RawMessage[] = []): Applied {
    for (const piece of pieces(messages)) {
      const stop = this.#applyPiece(piece, accepted);
      if (stop !== null) return { accepted, stop };
    }
    return { accepted, stop: null };
  }

  #applyPiece(messages: readonly RawMessage[], accepted: RawMessage[], refused?: string): Stop | null {
    const plan = planBatch(
      {
        projection: this.#projection,
        checkpoint: this.#checkpoint,
        quarantined: this.#quarantined,
        handOut: this.#handOut,
        isErased: (fromSeq, toSeq) => this.isErased(fromSeq, toSeq),
        ...(refused === undefined ? {} : { refused }),
      },
      messages,
    );
    if (plan.checkpoint.appliedSeq === this.#checkpoint.appliedSeq) return plan.stop;
    try {
      this.#transaction(plan);
    } catch (error) {
      if (!(isConstraint(error) || error instanceof TypeError) || refused !== undefined) throw error;
      return this.#applySingly(messages, accepted, error);
    }
    this.#checkpoint = plan.checkpoint;
    for (const scope of plan.quarantine.keys()) this.#quarantined.add(scope);
    accepted.push(...plan.accepted);
    return plan.stop;
  }

  /** One of the commits does not fit the rows before it: finds it, and quarantines what it belongs to. */
  #applySingly(messages: readonly RawMessage[], accepted: RawMessage[], error: unknown): Stop | null {
    if (messages.length === 1) {
      const { code } = error as { code?: unknown };
      return this.#applyPiece(messages, accepted, typeof code === 'string' ? code : 'a write without a key');
    }
    for (const message of messages) {
      const stop = this.#applyPiece([message], accepted);
      if (stop !== null) return stop;
    }
    return null;
  }

  #write(plan: Plan): void {
    for (const write of coalesce(plan.writes, this.#transient)) this.#statements.run(write);
    const { commitHead, foreignHead, quarantine, saveCheckpoint } = this.#prepared;
    for (const [subject, { streamSeq, commit }] of plan.heads) {
      if (commit === null) foreignHead.run(subject, streamSeq);
      else commitHead.run(subject, streamSeq, commit.id, commit.at);
    }
    for (const row of plan.quarantine.values()) quarantine.run(row);
    saveCheckpoint(plan.checkpoint);
  }
}

function prepare(db: Database) {
  const save: Statement = db.prepare(
    `UPDATE checkpoint SET stream_created = ?, journal_id = ?, applied_seq = ?, last_seq = ?, last_id = ?,
     previous_seq = ?, previous_id = ?, applied_count = ?, foreign_count = ?, skipped_count = ?`,
  );
  return {
    commitHead: db.prepare<[string, number, string, string]>(
      `INSERT INTO subject_heads (subject, stream_seq, commit_id, at) VALUES (?, ?, ?, ?) ON CONFLICT (subject)
       DO UPDATE SET stream_seq = excluded.stream_seq, commit_id = excluded.commit_id, at = excluded.at`,
    ),
    foreignHead: db.prepare<[string, number]>(
      `INSERT INTO subject_heads (subject, stream_seq) VALUES (?, ?)
       ON CONFLICT (subject) DO UPDATE SET stream_seq = excluded.stream_seq`,
    ),
    quarantine: db.prepare<[QuarantineRow]>(
      'INSERT INTO quarantine VALUES (@scope, @subject, @stream_seq, @reason, @detail)',
    ),
    erasures: db.prepare<[number, number], { from_seq: number; to_seq: number }>(
      'SELECT from_seq, to_seq FROM erasures WHERE to_seq >= ? AND from_seq <= ? ORDER BY from_seq',
    ),
    saveCheckpoint: (checkpoint: Checkpoint) => {
      const [last, previous] = checkpoint.marks;
      save.run(
        checkpoint.created,
        checkpoint.journalId,
        checkpoint.appliedSeq,
        last?.seq ?? null,
        last?.id ?? null,
        previous?.seq ?? null,
        previous?.id ?? null,
        checkpoint.appliedCount,
        checkpoint.foreignCount,
        checkpoint.skippedCount,
      );
    },
  };
}
