import type { Authorization, Branch, RunConfig, Thread, TurnIds, Workspace } from '@rookery/protocol';
import { limits } from '@rookery/protocol';
import { type Draft, draft } from '../draft.ts';
import { type Refusal, refuse } from '../refusal.ts';
import type { AcceptedCommand, KnownSubmission, ThreadState } from './state.ts';

/** What a decision leads to: events to append, or the answer that an earlier commit gave already. */
export type ThreadDecision = { events: Draft[] } | { unchanged: true } | Refusal;

const accepted = (command: AcceptedCommand, authorization: Authorization | null = null): Draft =>
  draft('command.accepted', { ...command, authorization });

export interface CreateThread {
  command: AcceptedCommand;
  threadId: string;
  branchId: string;
  title: string | null;
  workspace: Workspace;
  /** ISO time of the commit. */
  now: string;
}

/** A thread is created once for its request; another request with the same id is refused. */
export function decideCreate(state: ThreadState | null, request: CreateThread): ThreadDecision {
  if (state !== null) {
    return state.paramsSha256 === request.command.paramsSha256 ? { unchanged: true } : refuse('IDEMPOTENCY_CONFLICT');
  }
  const thread: Thread = {
    id: request.threadId,
    title: request.title,
    defaultBranchId: request.branchId,
    workspace: request.workspace,
    createdAt: request.now,
    updatedAt: request.now,
    archivedAt: null,
  };
  const branch: Branch = { id: request.branchId, threadId: request.threadId, createdAt: request.now, isDefault: true };
  const { clientRequestId } = request.command;
  const payload = clientRequestId === null ? { thread, branch } : { thread, branch, clientRequestId };
  return { events: [accepted(request.command), draft('thread.created', payload)] };
}

/** A rename to the title that is there changes nothing. */
export function decideRename(state: ThreadState | null, title: string | null, now: string): ThreadDecision {
  if (state === null) return refuse('THREAD_NOT_FOUND');
  if (state.damaged) return refuse('THREAD_DAMAGED');
  if (state.thread.title === title) return { unchanged: true };
  return { events: [draft('thread.renamed', { thread: { ...state.thread, title, updatedAt: now } })] };
}

/** Archiving is refused while a turn is unsettled. */
export function decideArchive(state: ThreadState | null, now: string): ThreadDecision {
  if (state === null) return refuse('THREAD_NOT_FOUND');
  if (state.damaged) return refuse('THREAD_DAMAGED');
  if (state.thread.archivedAt !== null) return { unchanged: true };
  if (state.unsettledTurns > 0) return refuse('THREAD_BUSY', { unsettledTurns: state.unsettledTurns });
  return { events: [draft('thread.archived', { thread: { ...state.thread, archivedAt: now, updatedAt: now } })] };
}

/** The reverse of archiving. */
export function decideUnarchive(state: ThreadState | null, now: string): ThreadDecision {
  if (state === null) return refuse('THREAD_NOT_FOUND');
  if (state.damaged) return refuse('THREAD_DAMAGED');
  if (state.thread.archivedAt === null) return { unchanged: true };
  return { events: [draft('thread.unarchived', { thread: { ...state.thread, archivedAt: null, updatedAt: now } })] };
}

export interface SubmitTurn {
  command: AcceptedCommand & { clientRequestId: string };
  ids: TurnIds;
  branchId: string;
  content: string;
  runConfig: RunConfig;
  authorization: Authorization | null;
  now: string;
}

/** UTF-8 bytes of a text. */
export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Why a turn's content cannot be accepted, null where it can. */
export function contentRefusal(content: string): Refusal | null {
  if (content.trim() === '') return refuse('CONTENT_EMPTY');
  const bytes = byteLength(content);
  if (bytes > limits.turnContentBytes) return refuse('CONTENT_TOO_LARGE', { bytes, limit: limits.turnContentBytes });
  return null;
}

/** A submission queues a turn behind those that are there; it is accepted once for its request. */
export function decideSubmit(
  state: ThreadState | null,
  known: KnownSubmission | null,
  request: SubmitTurn,
): ThreadDecision {
  if (state === null) return refuse('THREAD_NOT_FOUND');
  if (known !== null) {
    return known.paramsSha256 === request.command.paramsSha256 ? { unchanged: true } : refuse('IDEMPOTENCY_CONFLICT');
  }
  if (state.damaged) return refuse('THREAD_DAMAGED');
  if (state.thread.archivedAt !== null) return refuse('THREAD_ARCHIVED');
  if (state.thread.defaultBranchId !== request.branchId) return refuse('BRANCH_NOT_FOUND');
  const content = contentRefusal(request.content);
  if (content !== null) return content;
  const { ids, now, runConfig } = request;
  const { clientRequestId } = request.command;
  const turn = {
    id: ids.turnId,
    threadId: state.thread.id,
    branchId: request.branchId,
    ordinal: state.lastOrdinal + 1,
    status: 'queued' as const,
    createdAt: now,
    updatedAt: now,
  };
  const run = {
    id: ids.runId,
    turnId: ids.turnId,
    providerId: runConfig.providerId,
    modelId: runConfig.modelId,
    executionPolicy: 'full_access' as const,
    status: 'queued' as const,
    createdAt: now,
    settledAt: null,
    skills: runConfig.skills,
    clientRequestId,
  };
  const item = {
    id: ids.userItemId,
    turnId: ids.turnId,
    runId: ids.runId,
    ordinal: 1,
    kind: 'message' as const,
    role: 'user' as const,
    status: 'completed' as const,
    content: request.content,
    data: {},
    createdAt: now,
    updatedAt: now,
  };
  return {
    events: [
      accepted(request.command, request.authorization),
      draft('item.completed', { turn, run, item, runConfig, clientRequestId }, ids.userItemId),
      draft('run.state_changed', { status: 'queued' }),
    ],
  };
}
