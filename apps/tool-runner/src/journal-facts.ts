import { setTimeout as pause } from 'node:timers/promises';
import type { Journal } from '@rookery/journal';
import {
  AppError,
  commitId,
  commitTime,
  type ErrorCode,
  formatSubject,
  type ProcessRecord,
  toAppError,
  writerName,
} from '@rookery/protocol';
import type { ProcessFacts } from './processes/process-facts.ts';
import type { ProcessMeta } from './processes/process-files.ts';

/** How long to wait before a fact that the journal did not take is tried again, in milliseconds. */
const RETRY_MS = 1000;
const CONFLICTS = 5;
/** What a journal that is away answers, by itself or through what is between. */
const AWAY: readonly ErrorCode[] = ['JOURNAL_AMBIGUOUS', 'JOURNAL_UNAVAILABLE', 'SERVICE_UNAVAILABLE'];

interface Fact {
  /** Tells it from every other fact of this start of the runner. */
  readonly n: number;
  readonly meta: ProcessMeta;
  readonly record: ProcessRecord;
}

/** What is known of one process subject: its last commit, and the newest fact that waits. */
interface Line {
  head: { seq: number; at: string | null } | null;
  waiting: Fact | null;
  busy: Promise<void> | null;
}

/** Writes the facts of processes to their subjects, one append at a time each; a newer fact replaces a waiting one. */
export class JournalFacts implements ProcessFacts {
  readonly #journal: Pick<Journal, 'append' | 'readLast'>;
  readonly #instance: string;
  readonly #report: (error: AppError) => void;
  readonly #lines = new Map<string, Line>();
  #facts = 0;
  #closing = false;

  constructor(journal: Pick<Journal, 'append' | 'readLast'>, instance: string, report: (error: AppError) => void) {
    this.#journal = journal;
    this.#instance = instance;
    this.#report = report;
  }

  /**
   * Stores a fact and waits for it, also for a journal that is away. Throws what will not change (COMMIT_TOO_LARGE,
   * JOURNAL_CONFLICT, STORAGE_LOW), and what the journal said last once `signal` is aborted.
   */
  async record(meta: ProcessMeta, record: ProcessRecord, signal: AbortSignal): Promise<void> {
    const fact = this.#fact(meta, record);
    for (;;) {
      try {
        return await this.#append(this.#line(meta), fact);
      } catch (error) {
        const failure = toAppError(error);
        if (!AWAY.includes(failure.code) || signal.aborted) throw error;
        this.#report(failure);
        await pause(RETRY_MS, undefined, { signal }).catch(() => undefined);
        if (signal.aborted) throw error;
      }
    }
  }

  /** Stores a fact as soon as the journal takes it. */
  follow(meta: ProcessMeta, record: ProcessRecord): void {
    const line = this.#line(meta);
    line.waiting = this.#fact(meta, record);
    line.busy ??= this.#drain(line, meta.processId);
  }

  /** Waits up to a time in milliseconds for what is not stored yet. */
  async close(withinMs: number): Promise<void> {
    const busy = [...this.#lines.values()].map((line) => line.busy ?? Promise.resolve());
    await Promise.race([Promise.allSettled(busy), pause(withinMs, undefined, { ref: false })]);
    this.#closing = true;
  }

  #fact(meta: ProcessMeta, record: ProcessRecord): Fact {
    this.#facts += 1;
    return { n: this.#facts, meta, record };
  }

  #line(meta: ProcessMeta): Line {
    const known = this.#lines.get(meta.processId);
    if (known !== undefined) return known;
    const line: Line = { head: null, waiting: null, busy: null };
    this.#lines.set(meta.processId, line);
    return line;
  }

  async #drain(line: Line, processId: string): Promise<void> {
    let last: Fact | null = null;
    for (let fact = line.waiting; fact !== null && !this.#closing; fact = line.waiting) {
      line.waiting = null;
      try {
        await this.#append(line, fact);
        last = fact;
      } catch (error) {
        const failure = toAppError(error);
        this.#report(failure);
        if (failure.retry === 'never' || failure.code === 'INTERNAL') continue;
        line.waiting ??= fact;
        await pause(RETRY_MS, undefined, { ref: false });
      }
    }
    line.busy = null;
    // After its end nothing more is said of a process.
    if (last !== null && last.meta.finishedAt !== null) this.#lines.delete(processId);
  }

  async #append(line: Line, { n, meta, record }: Fact): Promise<void> {
    const { world, threadId, processId, itemId, agentId, branchId, turnId, runId } = meta;
    const subject = formatSubject({ kind: 'process', world, threadId, processId });
    line.head ??= await this.#readHead(subject);
    for (let attempt = 0; attempt < CONFLICTS; attempt += 1) {
      const { seq, at } = line.head;
      const commit = {
        v: 1,
        // Two facts never share an id, also where the first may be stored unknown to us; a repeated append keeps its own.
        id: commitId(subject, `${itemId}-${this.#instance}`, n),
        cause: itemId,
        at: commitTime(new Date(), at),
        by: writerName('tool', this.#instance),
        ...{ agentId, branchId, turnId, runId },
        events: [{ type: 'process.recorded', itemId, payload: { process: record } }],
      };
      const result = await this.#journal.append({ subject, expected: seq, commit });
      if (result.outcome === 'committed') {
        line.head = { seq: result.streamSeq, at: commit.at };
        return;
      }
      line.head = await this.#readHead(subject);
    }
    throw new AppError('JOURNAL_CONFLICT', { details: { processId } });
  }

  async #readHead(subject: string): Promise<{ seq: number; at: string | null }> {
    const last = await this.#journal.readLast(subject);
    return { seq: last?.streamSeq ?? 0, at: last?.commit.at ?? null };
  }
}
