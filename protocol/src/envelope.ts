import * as z from 'zod';
import { limits } from './limits.ts';

/** Journal schema version that this program writes. Older ones are upcast when read, newer ones stop a projector. */
export const COMMIT_VERSION = 1;

/** Header that tells our commits from messages that others made a server or a service write. */
export const COMMIT_HEADER = 'Rookery-Commit';

const timestamp = z.iso.datetime({ precision: 3 });
const id = z.string().min(1).max(limits.identifierChars);

/** Its members are checked by the event's type (`checkEvent`): reading them here as well would only copy them. */
const payloadSchema = z.custom<Record<string, unknown>>(
  (value) => value !== null && typeof value === 'object' && !Array.isArray(value),
  'not an object',
);

/** One event inside a commit. The scope of its commit and its own item complete it (see `toWireEvents`). */
export const commitEventSchema = z.strictObject({
  type: z.string().min(1).max(100),
  itemId: id.optional(),
  payload: payloadSchema,
});

/**
 * One JetStream message: 1..n events that happened together.
 *
 * `branchId`, `turnId`, `runId` are the scope that all events of the commit share, so that an event can be shown
 * without looking anything up.
 */
export const commitSchema = z.strictObject({
  v: z.int().min(1),
  id: z.string().min(1).max(1000),
  cause: id,
  at: timestamp,
  by: z.string().min(1).max(500),
  agentId: id,
  branchId: id.optional(),
  turnId: id.optional(),
  runId: id.optional(),
  events: z.array(commitEventSchema).min(1).max(limits.eventsPerCommit),
});

export type CommitEvent = z.infer<typeof commitEventSchema>;
export type Commit = z.infer<typeof commitSchema>;

/** A commit as it was read: where it stands in the stream. `at` of two commits never decides order; `streamSeq` does. */
export interface StoredCommit {
  streamSeq: number;
  subject: string;
  commit: Commit;
}

/** `Nats-Msg-Id` of commit n of a command on a subject; unique in the stream. */
export function commitId(subject: string, commandId: string, n: number): string {
  return `${subject}/${commandId}/${n}`;
}

/** Global position of event `index` of the commit at a stream sequence. */
export function seqOf(streamSeq: number, index: number): number {
  return streamSeq * limits.eventsPerCommit + index;
}

/** Stream sequence of the commit that holds an event. */
export function streamSeqOf(seq: number): number {
  return Math.floor(seq / limits.eventsPerCommit);
}

/** max(now, previous): time on a subject never runs backwards. ISO 8601 with milliseconds. */
export function commitTime(now: Date, previous: string | null): string {
  const iso = now.toISOString();
  return previous !== null && previous > iso ? previous : iso;
}
