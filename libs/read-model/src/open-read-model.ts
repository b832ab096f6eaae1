import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { decodeTrusted } from '@rookery/journal';
import { AppError, errorFromBody, JOURNAL, productionTimings } from '@rookery/protocol';
import { isCorruption } from './database.ts';
import { currentFile, nextFile, removeLeftovers } from './generations.ts';
import { acquireLock } from './lock.ts';
import type { RebuildReason } from './prepare-file.ts';
import { type ProjectorThread, startProjector, type ThreadEvents } from './projector-thread.ts';
import type { ReadModel, ReadModelOptions, ReadModelState, RebuildProgress } from './read-model.ts';
import { ReadConnection, type Reader } from './reader.ts';
import { Waiters } from './waiters.ts';
import {
  type Counts,
  type FromWorker,
  type ProjectorData,
  type RebuildResult,
  unpackCommits,
} from './worker-messages.ts';

const SOURCE_ENTRY = new URL('./projector-worker.ts', import.meta.url);

/**
 * Opens the read model of one service and slot and keeps it up to its stream from a thread of its own. Resolves once
 * its file can be read; `level` says when it is up to date. HOME_LOCKED where another process uses the slot.
 */
export async function openReadModel<DB>(options: ReadModelOptions): Promise<ReadModel<DB>> {
  mkdirSync(options.dir, { recursive: true, mode: 0o700 });
  const base = join(options.dir, options.file ?? 'state.db');
  const lock = acquireLock(`${base}.lock`);
  removeLeftovers(base);
  const model = new ThreadedReadModel<DB>(options, base, lock.release);
  try {
    await model.start({ suspect: false, unclean: lock.stale });
    return model;
  } catch (error) {
    await model.stop();
    throw error;
  }
}

interface Generation {
  resolve(result: RebuildResult): void;
  reject(error: AppError): void;
  onProgress: ((progress: RebuildProgress) => void) | undefined;
}

const endState = (error: AppError): ReadModelState => {
  if (error.code === 'JOURNAL_REGRESSED') return { state: 'regressed', error };
  return { state: error.code === 'READMODEL_TOO_OLD' ? 'too-old' : 'failed', error };
};

/** Where a read model has its projector and its rows. */
export interface ThreadPorts {
  startProjector(data: ProjectorData, events: ThreadEvents): ProjectorThread;
  openReader<DB>(path: string): ReadConnection<DB>;
}

/** A read model whose projector runs elsewhere and sends what it has applied. */
export class ThreadedReadModel<DB> implements ReadModel<DB> {
  readonly #options: ReadModelOptions;
  readonly #ports: ThreadPorts;
  readonly #base: string;
  #path: string;
  readonly #release: () => void;
  readonly #waiters = new Waiters();
  readonly #questions = new Map<number, { resolve(lastSeq: number): void; reject(error: AppError): void }>();
  #thread: ProjectorThread | null = null;
  #reader: ReadConnection<DB> | null = null;
  #opened: { resolve(): void; reject(error: AppError): void } | null = null;
  #rebuilt: RebuildReason | null = null;
  #rebuilding: Promise<void> | null = null;
  #generation: Generation | null = null;
  #appliedSeq = 0;
  #lastSeq = 0;
  /** Null until a look at the stream: the projector decides where handing out begins. */
  #deliveredSeq: number | null = null;
  #counts: Counts = { appliedCount: 0, foreignCount: 0, skippedCount: 0, quarantined: 0 };
  #state: ReadModelState = { state: 'waiting' };
  #question = 0;
  #stopped = false;

  constructor(
    options: ReadModelOptions,
    base: string,
    release: () => void,
    ports: ThreadPorts = {
      startProjector: (data, events) => startProjector(options.workerEntry ?? SOURCE_ENTRY, data, events),
      openReader: (path) => new ReadConnection(path),
    },
  ) {
    this.#options = options;
    this.#ports = ports;
    this.#base = base;
    this.#path = currentFile(base);
    this.#release = release;
  }

  /** Starts the projector's thread; resolves when the file is open on both threads. */
  async start(found: Pick<ProjectorData, 'suspect' | 'unclean'>): Promise<void> {
    const { projection, connection, stream = JOURNAL, timings = productionTimings, restMs = 0 } = this.#options;
    const handOut = this.#options.onApplied === undefined ? [] : (this.#options.handOut ?? null);
    const data: ProjectorData = {
      projection: projection.name,
      version: projection.version,
      path: this.#path,
      base: this.#base,
      stream,
      connection,
      timings: { publishTimeoutMs: timings.publishTimeoutMs },
      handOut,
      restMs,
      ...found,
      deliveredSeq: this.#deliveredSeq,
    };
    await new Promise<void>((resolve, reject) => {
      this.#opened = { resolve, reject };
      this.#thread = this.#ports.startProjector(data, {
        onMessage: (message) => this.#take(message),
        onCrash: (error) => this.#end(error),
      });
    });
    this.#opened = null;
    this.#reader = this.#ports.openReader<DB>(this.#path);
  }

  read<T>(fn: (reader: Reader<DB>) => T): T {
    const reader = this.#reader;
    if (reader === null) {
      throw new AppError(this.#stopped ? 'SHUTTING_DOWN' : 'SERVICE_UNAVAILABLE', { details: { rebuilding: true } });
    }
    try {
      return reader.read(fn);
    } catch (error) {
      if (!isCorruption(error)) throw error;
      this.#rebuild();
      throw new AppError('SERVICE_UNAVAILABLE', { details: { rebuilding: true }, cause: error });
    }
  }

  headOf(subject: string): number {
    return this.read((reader) => reader.headOf(subject));
  }

  appliedSeq(): number {
    return this.#appliedSeq;
  }

  waitFor(streamSeq: number, timeoutMs: number): Promise<void> {
    return this.#waiters.wait(streamSeq, timeoutMs);
  }

  async level(): Promise<void> {
    const lastSeq = await new Promise<number>((resolve, reject) => {
      if (this.#stopped) return reject(new AppError('SHUTTING_DOWN'));
      if ('error' in this.#state && this.#state.state !== 'stalled') return reject(this.#state.error);
      this.#question += 1;
      this.#questions.set(this.#question, { resolve, reject });
      this.#thread?.post({ type: 'last', id: this.#question });
    });
    await this.#waiters.wait(lastSeq, null);
  }

  rebuild(onProgress?: (progress: RebuildProgress) => void): Promise<RebuildResult> {
    if (this.#stopped) return Promise.reject(new AppError('SHUTTING_DOWN'));
    if ('error' in this.#state && this.#state.state !== 'stalled') return Promise.reject(this.#state.error);
    if (this.#generation !== null || this.#rebuilding !== null) {
      const message = 'The read model is being built anew already; wait for it.';
      return Promise.reject(new AppError('SERVICE_UNAVAILABLE', { message }));
    }
    return new Promise((resolve, reject) => {
      this.#generation = { resolve, reject, onProgress };
      this.#thread?.post({ type: 'rebuild', path: nextFile(this.#base, this.#path) });
    });
  }

  stats(): ReturnType<ReadModel<DB>['stats']> {
    return {
      appliedSeq: this.#appliedSeq,
      lastSeq: this.#lastSeq,
      lag: Math.max(0, this.#lastSeq - this.#appliedSeq),
      appliedCount: this.#counts.appliedCount,
      foreign: this.#counts.foreignCount,
      skipped: this.#counts.skippedCount,
      quarantined: this.#counts.quarantined,
      state: this.#state.state,
    };
  }

  state(): ReadModelState {
    return this.#state;
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#fail(new AppError('SHUTTING_DOWN'));
    await this.#rebuilding;
    this.#closeReader();
    // The writer is the last to close: it empties the write-ahead log.
    await this.#thread?.stop();
    this.#release();
  }

  #take(message: FromWorker): void {
    switch (message.type) {
      case 'opened':
        this.#rebuilt = message.rebuilt;
        this.#appliedSeq = message.appliedSeq;
        this.#counts = message.counts;
        this.#waiters.reach(message.appliedSeq);
        this.#opened?.resolve();
        return;
      case 'began':
        this.#lastSeq = message.lastSeq;
        this.#deliveredSeq = message.deliveredSeq;
        this.#progress();
        return;
      case 'applied':
        this.#applied(message);
        return;
      case 'waiting':
        this.#enter({ state: 'waiting' });
        return;
      case 'stalled':
        this.#enter({ state: 'stalled', error: errorFromBody(message.error) });
        return;
      case 'corrupt':
        this.#rebuild();
        return;
      case 'ended':
        this.#end(errorFromBody(message.error));
        return;
      case 'last':
        this.#lastSeq = Math.max(this.#lastSeq, message.lastSeq);
        this.#questions.get(message.id)?.resolve(message.lastSeq);
        this.#questions.delete(message.id);
        return;
      case 'refused':
        this.#questions.get(message.id)?.reject(errorFromBody(message.error));
        this.#questions.delete(message.id);
        return;
      case 'building':
        this.#generation?.onProgress?.({ appliedSeq: message.appliedSeq, lastSeq: message.lastSeq });
        return;
      case 'swapped':
        this.#moveTo(message.path);
        return;
      case 'rebuilt':
        this.#generation?.resolve(message.result);
        this.#generation = null;
        return;
      case 'not-rebuilt':
        this.#generation?.reject(errorFromBody(message.error));
        this.#generation = null;
    }
  }

  #applied(message: Extract<FromWorker, { type: 'applied' }>): void {
    const { appliedSeq, counts, commits } = message;
    this.#counts = counts;
    this.#appliedSeq = appliedSeq;
    this.#deliveredSeq = Math.max(this.#deliveredSeq ?? 0, appliedSeq);
    this.#lastSeq = Math.max(this.#lastSeq, appliedSeq);
    try {
      if (commits.seqs.length > 0) {
        this.#options.onApplied?.({ commits: unpackCommits(commits).map(decodeTrusted), appliedSeq });
      }
    } finally {
      this.#thread?.post({ type: 'taken', bytes: commits.bytes.length });
      this.#waiters.reach(appliedSeq);
      this.#progress();
    }
  }

  #progress(): void {
    const { state } = this.#state;
    if (this.#appliedSeq >= this.#lastSeq) {
      this.#rebuilt = null;
      if (state !== 'live') this.#enter({ state: 'live', applied: this.#appliedSeq });
    } else if (state !== 'live') {
      this.#enter({ state: 'replaying', applied: this.#appliedSeq, last: this.#lastSeq, rebuilt: this.#rebuilt });
    }
  }

  #enter(state: ReadModelState): void {
    this.#state = state;
    if (!this.#stopped) this.#options.onState?.(state);
  }

  #end(error: AppError): void {
    this.#opened?.reject(error);
    // The first reason counts: what comes behind it is its consequence.
    if ('error' in this.#state && this.#state.state !== 'stalled') return;
    this.#fail(error);
    this.#enter(endState(error));
  }

  #fail(error: AppError): void {
    this.#waiters.fail(error);
    for (const question of this.#questions.values()) question.reject(error);
    this.#questions.clear();
    this.#generation?.reject(error);
    this.#generation = null;
  }

  /** Another file is in force. Commits that are in it alone come behind this message, so no read misses one. */
  #moveTo(path: string): void {
    this.#path = path;
    const before = this.#reader;
    if (before !== null) {
      this.#reader = this.#ports.openReader<DB>(path);
      before.close();
    }
    this.#thread?.post({ type: 'moved' });
  }

  #closeReader(): void {
    this.#reader?.close();
    this.#reader = null;
  }

  /** The file is unsound: it is set aside and built anew while the service goes on. */
  #rebuild(): void {
    if (this.#rebuilding !== null || this.#stopped) return;
    this.#closeReader();
    this.#deliveredSeq ??= this.#appliedSeq;
    this.#generation?.reject(new AppError('SERVICE_UNAVAILABLE', { details: { rebuilding: true } }));
    this.#generation = null;
    const again = async () => {
      await this.#thread?.stop();
      await this.start({ suspect: true, unclean: false });
      for (const id of this.#questions.keys()) this.#thread?.post({ type: 'last', id });
    };
    this.#rebuilding = again()
      .catch((error: unknown) => {
        this.#end(error instanceof AppError ? error : new AppError('INTERNAL', { cause: error }));
      })
      .finally(() => {
        this.#rebuilding = null;
      });
  }
}
