import { externalizeBlobs } from '@rookery/journal';
import type { Draft, LoopEffect } from '@rookery/kernel';
import {
  AppError,
  COMMIT_VERSION,
  type Commit,
  type CommitEvent,
  commitId,
  commitTime,
  formatSubject,
  limits,
  toAppError,
  writerName,
} from '@rookery/protocol';
import { faultPoint } from '@rookery/service';
import type { AgentDeps } from '../deps.ts';
import { RETRY_MS } from '../passing.ts';
import type { RunRow } from '../queries.ts';
import { BATCH_BYTES, commitsOf, mergeDeltas } from './batches.ts';

interface Entry {
  events: Draft[];
  effects: LoopEffect[];
  bytes: number;
  /** Command that it comes of, null for the run's own work. */
  cause: string | null;
  stored(streamSeq: number): void;
  failed(error: AppError): void;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Writes a run's events to its subject: one append in flight, what comes meanwhile joins the next commit, effects are
 * handed out once their commit is stored. A conflict means that somebody settled the run for us: the writer stops for
 * good (the fence). While the journal is away it tries again with the same commit, for ever. `onEnd` is called once with
 * RUN_SETTLED for a fence, or with the defect that kept a commit from being stored.
 */
export class RunWriter {
  readonly #deps: AgentDeps;
  readonly #run: RunRow;
  readonly #subject: string;
  readonly #commandId: string;
  readonly #perform: (effect: LoopEffect) => void;
  readonly #onEnd: (error: AppError) => void;
  #queue: Entry[] = [];
  #expected = 0;
  #lastAt: string | null = null;
  #commits = 0;
  #working: Promise<void> | null = null;
  #closed = false;

  /**
   * `attempt` tells this try to work on the run from every other of the same instance: a commit of an earlier one must
   * not be taken for a retry of this one's.
   */
  constructor(
    deps: AgentDeps,
    run: RunRow,
    attempt: number,
    perform: (effect: LoopEffect) => void,
    onEnd: (error: AppError) => void,
  ) {
    this.#deps = deps;
    this.#run = run;
    this.#commandId = `run-${deps.instance}-${attempt}`;
    this.#subject = formatSubject({ kind: 'run', world: run.world, threadId: run.threadId, runId: run.runId });
    this.#perform = perform;
    this.#onEnd = onEnd;
  }

  /** Stream sequence of the last stored commit: what a tool runner compares with. */
  get lastSeq(): number {
    return this.#expected;
  }

  /** ISO time for the next events; never earlier than the last commit. */
  now(): string {
    return commitTime(new Date(), this.#lastAt);
  }

  /**
   * Resolves with the stream sequence once the events are stored; effects are performed then. `cause` is the command
   * that they come of: its commit holds nothing else.
   */
  write(events: Draft[], effects: LoopEffect[], cause: string | null = null): Promise<number> {
    if (this.#closed) return Promise.reject(new AppError('RUN_SETTLED'));
    return new Promise((stored, failed) => {
      this.#queue.push({ events, effects, bytes: Buffer.byteLength(JSON.stringify(events)), cause, stored, failed });
      this.#working ??= this.#work();
    });
  }

  async idle(): Promise<void> {
    while (this.#working !== null) await this.#working;
  }

  #take(): Entry[] {
    let bytes = 0;
    let events = 0;
    let count = 0;
    const cause = this.#queue[0]?.cause ?? null;
    for (const entry of this.#queue) {
      if (entry.cause !== cause) break;
      bytes += entry.bytes;
      events += entry.events.length;
      if (count > 0 && (bytes > BATCH_BYTES || events > limits.eventsPerCommit)) break;
      count += 1;
    }
    return this.#queue.splice(0, count);
  }

  async #work(): Promise<void> {
    // The caller has this promise before the loop can end.
    await Promise.resolve();
    try {
      while (this.#queue.length > 0 && !this.#closed) {
        const batch = this.#take();
        const cause = batch[0]?.cause ?? null;
        for (const events of commitsOf(mergeDeltas(batch.flatMap((entry) => entry.events)))) {
          const error = await this.#store(events, cause).catch((thrown: unknown) => toAppError(thrown));
          if (error !== null) return this.#close(batch, error);
        }
        for (const entry of batch) {
          entry.stored(this.#expected);
          for (const effect of entry.effects) this.#perform(effect);
        }
      }
    } finally {
      // At once: whoever is told of the last entry may write the next one before a later microtask.
      this.#working = null;
    }
  }

  #close(batch: Entry[], error: AppError): void {
    this.#closed = true;
    for (const entry of [...batch, ...this.#queue]) entry.failed(error);
    this.#queue = [];
    this.#onEnd(error);
  }

  /**
   * A process that was stopped for long while its commit was under way may have lost the run behind it: then the effects
   * of that commit must not follow.
   */
  async #isStillOurs(streamSeq: number, startedAt: number): Promise<boolean> {
    if (performance.now() - startedAt < this.#deps.timings.leaseRefreshMs) return true;
    const last = await this.#deps.journal.readLast(this.#subject);
    return last === null || last.streamSeq <= streamSeq;
  }

  /** Null once the events are stored; RUN_SETTLED where the subject went on without us. */
  async #store(events: Draft[], cause: string | null): Promise<AppError | null> {
    const redactor = this.#deps.models.redactor;
    const commit: Commit = {
      v: COMMIT_VERSION,
      id: commitId(this.#subject, this.#commandId, this.#commits),
      cause: (cause ?? this.#commandId).slice(0, limits.identifierChars),
      at: this.now(),
      by: writerName('agent', this.#deps.instance),
      agentId: this.#run.agentId,
      branchId: this.#run.branchId,
      turnId: this.#run.turnId,
      runId: this.#run.runId,
      events: events.map((event) => ({ ...event, payload: redactor.redactValue(event.payload) })) as CommitEvent[],
    };
    // From the first try on: one that failed after the commit was stored must not hide how long that took.
    const started = performance.now();
    for (;;) {
      try {
        const ready = await externalizeBlobs(commit, this.#deps.blobs, this.#run.threadId);
        faultPoint('agent:run-before-append');
        const result = await this.#deps.journal.append({
          subject: this.#subject,
          expected: this.#expected,
          commit: ready,
        });
        faultPoint('agent:run-after-append');
        if (result.outcome === 'conflict' || !(await this.#isStillOurs(result.streamSeq, started)))
          return new AppError('RUN_SETTLED');
        this.#expected = result.streamSeq;
        this.#lastAt = commit.at;
        this.#commits += 1;
        return null;
      } catch (error) {
        // What is wrong with the commit or the journal itself stays wrong; everything else is a journal that is away, and is waited for.
        const own =
          error instanceof AppError &&
          error.cause === undefined &&
          ['INTERNAL', 'COMMIT_TOO_LARGE', 'JOURNAL_REGRESSED', 'READMODEL_TOO_OLD'].includes(error.code);
        if (own) throw error;
        const { code } = toAppError(error);
        this.#deps.log.warn({ code, runId: this.#run.runId }, 'journal is away, the run waits');
        await pause(RETRY_MS);
      }
    }
  }
}
