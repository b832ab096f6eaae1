import type { Projection } from '@rookery/kernel';
import type { AppError, EventType, StoredCommit, Timings } from '@rookery/protocol';
import type { RebuildReason } from './prepare-file.ts';
import type { Reader } from './reader.ts';
import type { BusConnection, RebuildResult } from './worker-messages.ts';

/** Commits that were applied together, in stream order, conversation and internal events alike. */
export interface AppliedBatch {
  commits: StoredCommit[];
  /** Stream sequence up to which everything is applied now; foreign messages count. */
  appliedSeq: number;
}

export type ReadModelState =
  /** Catching up: stream sequence applied, and the last one of the stream when it began. */
  | { state: 'replaying'; applied: number; last: number; rebuilt: RebuildReason | null }
  /** Everything that was in the stream at the last look is applied; what comes follows at once. */
  | { state: 'live'; applied: number }
  /** The server or the stream cannot be reached; goes on by itself. */
  | { state: 'waiting' }
  /** The disk does not take writes (STORAGE_LOW); goes on by itself. */
  | { state: 'stalled'; error: AppError }
  /** Applying has ended: JOURNAL_REGRESSED. Reads still answer. */
  | { state: 'regressed'; error: AppError }
  /** Applying has ended: READMODEL_TOO_OLD. */
  | { state: 'too-old'; error: AppError }
  /** Applying has ended for another reason, and does not begin again in this process: end it, a new one may go on. */
  | { state: 'failed'; error: AppError };

export interface ReadModelOptions {
  /** Folder of one service and slot; made where it is missing. */
  dir: string;
  /** Default `state.db`. */
  file?: string;
  projection: Projection;
  /** File of the projector's thread; default the one in the source tree. */
  workerEntry?: string | URL;
  connection: BusConnection;
  /** Default JOURNAL. */
  stream?: string;
  timings?: Pick<Timings, 'publishTimeoutMs'>;
  /**
   * Called after the transaction that wrote the rows. Of what is caught up at the start only the last 16,384 positions
   * of the stream are handed out; from then on every applied commit exactly once, over rebuilds too.
   */
  onApplied?(batch: AppliedBatch): void;
  /** Event types of the commits that `onApplied` wants; default all. */
  handOut?: readonly EventType[];
  /**
   * Least time from one batch to the next, milliseconds, default 0: a view that nobody waits for takes several commits in
   * one transaction and leaves the machine to those who are waited for.
   */
  restMs?: number;
  /** Every change of state, before `stop`; see `ReadModelState` for what heals by itself and what does not. */
  onState?(state: ReadModelState): void;
}

export interface ReadModelStats {
  appliedSeq: number;
  /** Last sequence of the stream at the last look. */
  lastSeq: number;
  /** lastSeq - appliedSeq, at least 0. */
  lag: number;
  appliedCount: number;
  /** Messages that are none of ours. */
  foreign: number;
  /** Commits that were not applied: the damaged ones and what came behind them. */
  skipped: number;
  /** Threads or subjects out of service. */
  quarantined: number;
  state: ReadModelState['state'];
}

/** How far a rebuild is: stream sequences. */
export interface RebuildProgress {
  appliedSeq: number;
  /** Last sequence of the file that serves meanwhile. */
  lastSeq: number;
}

export interface ReadModel<DB> {
  /** Runs synchronous queries in one read transaction. SERVICE_UNAVAILABLE while the file is built anew. */
  read<T>(fn: (reader: Reader<DB>) => T): T;
  /** Stream sequence up to which everything is applied and visible to reads. */
  appliedSeq(): number;
  /** Waits until a stream sequence is applied; SERVICE_UNAVAILABLE after `timeoutMs` or the error that ended applying. */
  waitFor(streamSeq: number, timeoutMs: number): Promise<void>;
  /** Stream sequence of the last message on a subject as applied, 0 where there is none. */
  headOf(subject: string): number;
  /** Waits until the journal is recognised and everything that is in it now is applied; the error that ended applying. */
  level(): Promise<void>;
  /**
   * Builds the file anew from the journal while the one in force serves, and puts the new one in its place; for a person
   * who doubts the rows, and for a proof that they are what the journal says. `read` answers without a break: until the
   * change from the old file, then from the new one, and applying waits for some 100 ms at the change. What was written
   * after it is in the new file alone. Resolves when both were compared at the sequence of the change and the old file
   * is gone, or kept as `<file>.suspect` where a table differed: what was built holds in any case.
   *
   * `onProgress` is called after every page, about 256 messages of the stream; it must not throw. A process that is
   * killed meanwhile starts with the old file, or with the new one once that is in force; the other one is removed then.
   *
   * Rejects, and leaves everything as it was: SERVICE_UNAVAILABLE while another one is under way, while a damaged file is
   * built anew, or before the journal was recognised; STORAGE_LOW where the disk is full; SHUTTING_DOWN; the error that
   * ended applying. Where the journal cannot be reached it waits.
   */
  rebuild(onProgress?: (progress: RebuildProgress) => void): Promise<RebuildResult>;
  stats(): ReadModelStats;
  state(): ReadModelState;
  stop(): Promise<void>;
}
