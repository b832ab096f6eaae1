import {
  type EventPayload,
  type EventType,
  type JournalSubject,
  parseSubject,
  type StoredCommit,
  seqOf,
} from '@rookery/protocol';
import type { SqlValue, Write } from '../projection.ts';

type ThreadSubject = Extract<JournalSubject, { threadId: string }>;

/** What all events of one commit share. */
export interface Scope {
  subject: ThreadSubject;
  threadId: string;
  owner: { agent_id: string; world: string };
  at: string;
  streamSeq: number;
  /** Ids of the commit; a commit that needs one and has none contradicts itself. */
  branchId(): string;
  turnId(): string;
  runId(): string;
  /** What a retry of the request behind this commit is compared with. */
  accepted: EventPayload<'command.accepted'> | null;
  /** Steers that this very commit leaves to a following turn. */
  left: ReadonlySet<string>;
}

/** One event in its place. */
export interface Place {
  seq: number;
  itemId: string | undefined;
}

export type Handler<T extends EventType> = (payload: EventPayload<T>, scope: Scope, place: Place) => Write[];

/** Columns of the owner added to a row. */
export function owned(scope: Scope, set: Record<string, SqlValue>): Record<string, SqlValue> {
  return { ...scope.owner, ...set };
}

const needed = (name: string, value: string | undefined): string => {
  if (value === undefined) throw new TypeError(`the commit has no ${name}`);
  return value;
};

/** The scope of a commit on a subject of a thread; null for any other commit. */
export function scopeOf(stored: StoredCommit): Scope | null {
  const subject = parseSubject(stored.subject);
  if (subject === null || !('threadId' in subject)) return null;
  const { commit, streamSeq } = stored;
  const accepted = commit.events.find((event) => event.type === 'command.accepted');
  const left = commit.events.find((event) => event.type === 'run.steers_left');
  return {
    subject,
    threadId: subject.threadId,
    owner: { agent_id: commit.agentId, world: subject.world },
    at: commit.at,
    streamSeq,
    branchId: () => needed('branchId', commit.branchId),
    turnId: () => needed('turnId', commit.turnId),
    runId: () => needed('runId', commit.runId),
    accepted: accepted === undefined ? null : (accepted.payload as EventPayload<'command.accepted'>),
    left: new Set((left?.payload as EventPayload<'run.steers_left'> | undefined)?.steers.map((steer) => steer.itemId)),
  };
}

/** Where event `index` of a commit stands. */
export function placeOf(stored: StoredCommit, index: number): Place {
  return { seq: seqOf(stored.streamSeq, index), itemId: stored.commit.events[index]?.itemId };
}
