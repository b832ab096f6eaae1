import { headers } from '@nats-io/transport-node';
import { type Bus, busError, classifyFailure } from '@rookery/bus';
import { AppError, COMMIT_HEADER, type Commit, checkEvent, commitSchema, limits } from '@rookery/protocol';
import { getAt, getBatch, getLast, RETRY_MS, type StoredMessage } from './read.ts';

export interface AppendRequest {
  subject: string;
  /** Stream sequence of the last message of the subject that the writer knows; 0 = none. */
  expected: number;
  commit: Commit;
}

export type AppendResult =
  /** `duplicate` where an earlier attempt had stored it. */
  { outcome: 'committed'; streamSeq: number; duplicate: boolean } | { outcome: 'conflict'; lastSeq: number };

export interface AppendOptions {
  stream: string;
  /** How long an append goes on looking for its outcome, milliseconds. */
  deadlineMs: number;
  /**
   * Subjects with one writer need no right to read more than their last message; subjects with several need all
   * messages after the expected one to know their outcome.
   */
  singleWriter: boolean;
}

const WRONG_LAST_SEQUENCE = 10071;
/** No leader, no metadata leader, JetStream not enabled (yet): seen during elections and restarts. */
const TRANSIENT = new Set([10003, 10007, 10008, 10009, 10039, 10076, 10164]);
/** Insufficient resources, maximum bytes, storage exceeded, no space. */
const NO_SPACE = new Set([10023, 10028, 10047, 10077, 10118, 10122]);

interface ServerError {
  code: number;
  err_code?: number;
  description?: string;
}

type Publish =
  | { kind: 'stored'; seq: number; duplicate: boolean }
  | { kind: 'wrong-sequence'; lastSeq: number }
  | { kind: 'transient' | 'ambiguous'; cause: unknown };

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

async function publish(bus: Bus, request: AppendRequest, data: Uint8Array): Promise<Publish> {
  const header = headers();
  header.set('Nats-Msg-Id', request.commit.id);
  header.set('Nats-Expected-Last-Subject-Sequence', String(request.expected));
  header.set(COMMIT_HEADER, '1');
  let ack: { seq?: number; duplicate?: boolean; error?: ServerError };
  try {
    const message = await bus.nc.request(request.subject, data, { headers: header, timeout: bus.publishTimeoutMs });
    ack = message.json();
  } catch (cause) {
    switch (classifyFailure(cause)) {
      case 'permission':
        throw busError(cause);
      case 'no-responders':
      case 'not-sent':
        return { kind: 'transient', cause };
      case 'ambiguous':
        return { kind: 'ambiguous', cause };
    }
  }
  if (ack.error === undefined) return { kind: 'stored', seq: ack.seq ?? 0, duplicate: ack.duplicate === true };
  const code = ack.error.err_code ?? 0;
  if (code === WRONG_LAST_SEQUENCE) {
    const named = /(\d+)\s*$/.exec(ack.error.description ?? '')?.[1];
    return { kind: 'wrong-sequence', lastSeq: Number.parseInt(named ?? '0', 10) };
  }
  if (TRANSIENT.has(code) || ack.error.code === 503) return { kind: 'transient', cause: ack.error };
  if (NO_SPACE.has(code)) throw new AppError('STORAGE_LOW', { details: { server: code } });
  throw new AppError('JOURNAL_UNAVAILABLE', { details: { server: code } });
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
  | { kind: 'mine'; seq: number }
  | { kind: 'other'; lastSeq: number }
  | { kind: 'foreign'; lastSeq: number }
  | { kind: 'nothing' };

/** What stands on the subject after the expected sequence. A read that does not reach `atLeast` is repeated. */
async function look(
  bus: Bus,
  options: AppendOptions,
  request: AppendRequest,
  atLeast: number,
  deadline: number,
): Promise<Look> {
  for (;;) {
    try {
      const found = await readAfter(bus, options, request.subject, request.expected);
      const mine = found.find(
        (message) => message.messageId === request.commit.id && message.subject === request.subject,
      );
      if (mine !== undefined) return { kind: 'mine', seq: mine.streamSeq };
      const lastSeq = found.at(-1)?.streamSeq ?? 0;
      if (lastSeq >= atLeast) {
        if (found.some((message) => message.isCommit)) return { kind: 'other', lastSeq };
        return lastSeq === 0 ? { kind: 'nothing' } : { kind: 'foreign', lastSeq };
      }
    } catch (error) {
      if (error instanceof AppError && error.code === 'PERMISSION_VIOLATION') throw error;
      // A read that failed says nothing about the publication, which may be stored.
      if (performance.now() > deadline) throw new AppError('JOURNAL_AMBIGUOUS', { cause: error });
    }
    if (performance.now() > deadline) throw new AppError('JOURNAL_AMBIGUOUS');
    await pause(RETRY_MS);
  }
}

/** True where the message that the server calls our duplicate has our id and our subject. */
async function isOurs(bus: Bus, options: AppendOptions, request: AppendRequest, seq: number): Promise<boolean> {
  const message = options.singleWriter
    ? await getLast(bus, options.stream, request.subject)
    : await getAt(bus, options.stream, seq);
  return message?.messageId === request.commit.id && message.subject === request.subject && message.streamSeq === seq;
}

/**
 * Appends one commit to its subject. Conflict and ambiguity are settled alike: by reading what stands after the expected
 * sequence and looking for our own id. Throws JOURNAL_AMBIGUOUS where that stays unknown until the deadline,
 * JOURNAL_UNAVAILABLE where nothing can have been stored, STORAGE_LOW, COMMIT_TOO_LARGE, PERMISSION_VIOLATION.
 */
export async function append(bus: Bus, options: AppendOptions, original: AppendRequest): Promise<AppendResult> {
  const data = encodeCommit(original.commit);
  const deadline = performance.now() + options.deadlineMs;
  let request = original;
  let mayBeStored = false;
  for (;;) {
    const result = await publish(bus, request, data);
    if (result.kind === 'stored') {
      if (!result.duplicate) return { outcome: 'committed', streamSeq: result.seq, duplicate: false };
      if (await isOurs(bus, options, request, result.seq)) {
        return { outcome: 'committed', streamSeq: result.seq, duplicate: true };
      }
    }
    if (result.kind === 'transient' || result.kind === 'ambiguous') {
      mayBeStored ||= result.kind === 'ambiguous';
      if (performance.now() > deadline) {
        throw new AppError(mayBeStored ? 'JOURNAL_AMBIGUOUS' : 'JOURNAL_UNAVAILABLE', { cause: result.cause });
      }
      await pause(RETRY_MS);
      if (!mayBeStored) continue;
    }
    const atLeast = result.kind === 'wrong-sequence' && result.lastSeq > request.expected ? result.lastSeq : 0;
    const found = await look(bus, options, request, atLeast, deadline);
    switch (found.kind) {
      case 'mine':
        return { outcome: 'committed', streamSeq: found.seq, duplicate: true };
      case 'other':
        return { outcome: 'conflict', lastSeq: found.lastSeq };
      case 'foreign':
        // Only messages that are none of ours came between: they count for the subject's head and for nothing else.
        request = { ...request, expected: found.lastSeq };
        break;
      case 'nothing':
        // A wrong sequence below the expected one: the subject is shorter than the writer believes.
        if (result.kind === 'wrong-sequence') return { outcome: 'conflict', lastSeq: result.lastSeq };
        if (result.kind === 'stored')
          throw new AppError('JOURNAL_UNAVAILABLE', { details: { duplicateOf: result.seq } });
        break;
    }
  }
}
