import type { ErrorBody, Timings } from '@rookery/protocol';
import type { RebuildReason } from './prepare-file.ts';

/** What the main thread and the projector's thread say to each other. */

export interface BusConnection {
  /** One or more server URLs, separated by commas. */
  url: string;
  /** A user of the permissions table. */
  user: string;
  /** nkey seed; empty for a server without users. */
  seed: string;
  name: string;
}

export interface ProjectorData {
  /** Name and version of the projection; the worker must know the same. */
  projection: string;
  version: string;
  /** The file in force. */
  path: string;
  /** The file of the first generation, after which the others are named. */
  base: string;
  stream: string;
  connection: BusConnection;
  timings: Pick<Timings, 'publishTimeoutMs'>;
  /** Which commits go to the main thread: those with an event of these types; null = all. */
  handOut: readonly string[] | null;
  /** Least time from one batch to the next while commits come one by one, milliseconds. */
  restMs: number;
  suspect: boolean;
  unclean: boolean;
  /** Commits up to this stream sequence were handed out before; null for the first projector of a read model. */
  deliveredSeq: number | null;
}

export interface Counts {
  appliedCount: number;
  foreignCount: number;
  skippedCount: number;
  quarantined: number;
}

/** Commits of one batch in one buffer, which moves to the main thread without a copy. */
export interface PackedCommits {
  seqs: number[];
  subjects: string[];
  /** End of each commit in `bytes`. */
  ends: number[];
  bytes: Uint8Array<ArrayBuffer>;
}

/** What a rebuild has found, at one sequence of the stream. */
export interface RebuildResult {
  /** SHA-256 of every table of the file that served, `unreadable` where it could not be read. */
  digestsBefore: Record<string, string>;
  digestsAfter: Record<string, string>;
  /** Names of the tables that were not what the journal says. */
  differences: string[];
  /** Stream sequence at which both were compared. */
  appliedSeq: number;
  /** Rows of the file that was built. */
  rows: number;
}

export type FromWorker =
  | { type: 'opened'; rebuilt: RebuildReason | null; appliedSeq: number; counts: Counts }
  | { type: 'began'; lastSeq: number; deliveredSeq: number }
  | { type: 'applied'; appliedSeq: number; counts: Counts; commits: PackedCommits }
  | { type: 'waiting' }
  | { type: 'stalled'; error: ErrorBody }
  | { type: 'corrupt' }
  | { type: 'ended'; error: ErrorBody }
  | { type: 'last'; id: number; lastSeq: number }
  | { type: 'refused'; id: number; error: ErrorBody }
  /** A rebuild has come so far. */
  | { type: 'building'; appliedSeq: number; lastSeq: number }
  /** The file of that path is in force: reads go there from now on. */
  | { type: 'swapped'; path: string }
  | { type: 'rebuilt'; result: RebuildResult }
  | { type: 'not-rebuilt'; error: ErrorBody }
  /** The file is closed. */
  | { type: 'stopped' };

export type ToWorker =
  | { type: 'open'; data: ProjectorData }
  /** Asks for the last sequence of the stream. */
  | { type: 'last'; id: number }
  /** The main thread has dealt with commits of so many bytes. */
  | { type: 'taken'; bytes: number }
  /** Builds the next generation of the file under that path. */
  | { type: 'rebuild'; path: string }
  /** The main thread has closed its connection to the file that is no longer in force. */
  | { type: 'moved' }
  | { type: 'stop' };

/** One thread serves all read models of its process. */
export interface ToThread {
  model: number;
  message: ToWorker;
}

export interface FromThread {
  model: number;
  message: FromWorker;
}

export interface Deliverable {
  streamSeq: number;
  subject: string;
  data: Uint8Array;
}

/** Packs commits for the way to the main thread. */
export function packCommits(messages: readonly Deliverable[]): PackedCommits {
  let size = 0;
  for (const message of messages) size += message.data.length;
  const bytes = new Uint8Array(size);
  const packed: PackedCommits = { seqs: [], subjects: [], ends: [], bytes };
  let end = 0;
  for (const { streamSeq, subject, data } of messages) {
    bytes.set(data, end);
    end += data.length;
    packed.seqs.push(streamSeq);
    packed.subjects.push(subject);
    packed.ends.push(end);
  }
  return packed;
}

/** Reverses `packCommits`; the bytes of a commit are views of the packed ones. */
export function unpackCommits({ seqs, subjects, ends, bytes }: PackedCommits): Deliverable[] {
  return seqs.map((streamSeq, index) => ({
    streamSeq,
    subject: subjects[index] ?? '',
    data: bytes.subarray(index === 0 ? 0 : ends[index - 1], ends[index]),
  }));
}
