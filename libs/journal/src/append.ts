import type { Bus } from '@rookery/bus';
import { AppError, type Commit, checkEvent, commitSchema, limits } from '@rookery/protocol';
import { decodeCommit } from './decode.ts';
import { publish } from './publish.ts';
import { getAt, getBatch, getLast, RETRY_MS, type StoredMessage } from './read.ts';

export interface AppendRequest {
  subject: string;
  /** Stream sequence of the last message of the subject that the writer knows; 0 = none. */
  expected: number;
  commit: Commit;
}

export type AppendResult =
  /**
   * `duplicate` where an earlier attempt had stored it. `other` is what stands under the commit's id where that is not
   * the commit that was given: the same command at another moment, in another instance, or with other parameters.
   */
  | { outcome: 'committed'; streamSeq: number; duplicate: boolean; other?: Commit }
  | { outcome: 'conflict'; lastSeq: number };

export interface AppendOptions {
  stream: string;
  /** How long an append goes on looking for its outcome, milliseconds. */
  deadlineMs: number;
  /**
   * Subjects with one writer need no right to read more than their last message; subjects with several need all
   * messages after the expected one to know their outcome.
   */
  singleWriter: boolean;
  /** Asked before every attempt: an error of it is thrown and nothing is sent. */
  guard?: (() => AppError | null) | undefined;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const encoder = new TextEncoder();

/** Encodes a commit; COMMIT_TOO_LARGE or INTERNAL (an event that fails its schema is never appended). */
export function encodeCommit(commit: Commit): Uint8Array {
  if (commit.events.length > limits.eventsPerCommit) {
    throw new AppError('COMMIT_TOO_LARGE', {
      details: { events: commit.events.length, limit: limits.eventsPerCommit },
    });
  }
  const shape = commitSchema.safeParse(commit);
  if (!shape.success) {
    throw new AppError('INTERNAL', {
      message: 'a commit fails its schema',
      details: { issue: String(shape.error.issues[0]?.path) },
    });
  }
  for (const event of commit.events) {
    const check = checkEvent(event);
    if (!check.ok)
      throw new AppError('INTERNAL', { message: 'an event fails its schema', details: { issue: check.issue } });
  }
  const data = encoder.encode(JSON.stringify(commit));
  if (data.length > limits.commitBytes) {
    throw new AppError('COMMIT_TOO_LARGE', { details: { bytes: data.length, limit: limits.commitBytes } });
  }
  return data;
}

/** Messages of the subject after the expected one; for a single writer its last message says enough. */
async function readAfter(
  bus: Bus,
  options: AppendOptions,
  subject: string,
  expected: number,
): Promise<StoredMessage[]> {
  if (options.singleWriter) {
    const last = await getLast(bus, options.stream, subject);
    return last !== null && last.streamSeq > expected ? [last] : [];
  }
  const out: StoredMessage[] = [];
  for (let fromSeq = expected + 1; ; ) {
    const { messages, pending } = await getBatch(bus, options.stream, { fromSeq, max: 256, filter: subject });
    out.push(...messages);
    const last = messages.at(-1);
    if (last === undefined || pending === 0) return out;
    fromSeq = last.streamSeq + 1;
  }
}

type Look =
  | { kind: 'mine'; message: StoredMessage }
  | { kind: 'other'; lastSeq: number }
  | { kind: 'foreign'; lastSeq: number }
  | { kind: 'nothing' };

/** What an attempt said that a look has to reach before it counts: a read of less came from a lagging replica. */
interface Said {
  /** The subject's last sequence is at least this. */
  atLeast: number;
  /** The server calls the message at this sequence our duplicate. 0 = none. */
  duplicateOf: number;
}

/** Null where the message that the server calls our duplicate is not to be seen yet. */
async function named(bus: Bus, options: AppendOptions, subject: string, seq: number): Promise<StoredMessage | null> {
  if (!options.singleWriter) return await getAt(bus, options.stream, seq);
  const last = await getLast(bus, options.stream, subject);
  return last !== null && last.streamSeq >= seq ? last : null;
}

async function lookOnce(
  bus: Bus,
  options: AppendOptions,
  request: AppendRequest,
  { atLeast, duplicateOf }: Said,
): Promise<Look | null> {
  const isMine = (message: StoredMessage) =>
    message.messageId === request.commit.id && message.subject === request.subject;
  if (duplicateOf > 0) {
    const message = await named(bus, options, request.subject, duplicateOf);
    if (message === null) return null;
    if (isMine(message)) return { kind: 'mine', message };
  }
  const found = await readAfter(bus, options, request.subject, request.expected);
  const mine = found.find(isMine);
  if (mine !== undefined) return { kind: 'mine', message: mine };
  const lastSeq = found.at(-1)?.streamSeq ?? 0;
  if (lastSeq < atLeast) return null;
  if (found.some((message) => message.isCommit)) return { kind: 'other', lastSeq };
  return lastSeq === 0 ? { kind: 'nothing' } : { kind: 'foreign', lastSeq };
}

/** What stands on the subject after the expected sequence; repeated until it reaches what the attempt said. */
async function look(
  bus: Bus,
  options: AppendOptions,
  request: AppendRequest,
  said: Said,
  until: { deadline: number; mayBeStored: boolean },
): Promise<Look> {
  for (;;) {
    try {
      const found = await lookOnce(bus, options, request, said);
      if (found !== null) return found;
    } catch (error) {
      if (!until.mayBeStored && error instanceof AppError && error.code === 'PERMISSION_VIOLATION') throw error;
      // A read that failed says nothing about the publication, which may be stored.
      if (performance.now() > until.deadline) throw new AppError('JOURNAL_AMBIGUOUS', { cause: error });
    }
    if (performance.now() > until.deadline) throw new AppError('JOURNAL_AMBIGUOUS');
    await pause(RETRY_MS);
  }
}

/** The commit was stored by an earlier attempt; what that one held is told where it differs. */
function storedBefore(message: StoredMessage, data: Uint8Array): AppendResult {
  const result = { outcome: 'committed', streamSeq: message.streamSeq, duplicate: true } as const;
  if (Buffer.compare(message.data, data) === 0) return result;
  const decoded = decodeCommit(message);
  if (!decoded.ok) throw new AppError('INTERNAL', { message: 'the commit that is stored under this id is damaged' });
  return { ...result, other: decoded.stored.commit };
}

/**
 * Appends one commit to its subject. Conflict and ambiguity are settled alike: by reading what stands after the expected
 * sequence and looking for our own id. Throws JOURNAL_AMBIGUOUS where that stays unknown until the deadline,
 * JOURNAL_UNAVAILABLE where nothing can have been stored, STORAGE_LOW, COMMIT_TOO_LARGE, PERMISSION_VIOLATION, and what
 * the guard says.
 */
export async function append(bus: Bus, options: AppendOptions, original: AppendRequest): Promise<AppendResult> {
  const data = encodeCommit(original.commit);
  const deadline = performance.now() + options.deadlineMs;
  let request = original;
  let mayBeStored = false;
  for (;;) {
    const stopped = options.guard?.() ?? null;
    if (stopped !== null) throw mayBeStored ? new AppError('JOURNAL_AMBIGUOUS', { cause: stopped }) : stopped;
    const result = await publish(bus, request, data);
    if (result.kind === 'stored' && !result.duplicate) {
      return { outcome: 'committed', streamSeq: result.seq, duplicate: false };
    }
    if (result.kind === 'refused' && !mayBeStored) throw result.cause;
    if (result.kind === 'transient' || result.kind === 'ambiguous') {
      mayBeStored ||= result.kind === 'ambiguous';
      if (performance.now() > deadline) {
        throw new AppError(mayBeStored ? 'JOURNAL_AMBIGUOUS' : 'JOURNAL_UNAVAILABLE', { cause: result.cause });
      }
      await pause(RETRY_MS);
      if (!mayBeStored) continue;
    }
    const atLeast = result.kind === 'wrong-sequence' && result.lastSeq > request.expected ? result.lastSeq : 0;
    const duplicateOf = result.kind === 'stored' ? result.seq : 0;
    const found = await look(bus, options, request, { atLeast, duplicateOf }, { deadline, mayBeStored });
    switch (found.kind) {
      case 'mine':
        return storedBefore(found.message, data);
      case 'other':
        return { outcome: 'conflict', lastSeq: found.lastSeq };
      case 'foreign':
        // Only messages that are none of ours came between: they count for the subject's head and for nothing else.
        request = { ...request, expected: found.lastSeq };
        break;
      case 'nothing':
        // A wrong sequence below the expected one: the subject is shorter than the writer believes.
        if (result.kind === 'wrong-sequence') return { outcome: 'conflict', lastSeq: result.lastSeq };
        if (result.kind === 'stored') {
          // Whoever may read other sequences has seen that the message is none of this subject's.
          const code = options.singleWriter ? 'JOURNAL_AMBIGUOUS' : 'JOURNAL_UNAVAILABLE';
          throw new AppError(code, { details: { duplicateOf: result.seq } });
        }
        // An earlier attempt got no answer and is not to be seen: it may still arrive.
        if (result.kind === 'refused') throw new AppError('JOURNAL_AMBIGUOUS', { cause: result.cause });
        break;
    }
  }
}
