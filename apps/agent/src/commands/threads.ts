import {
  decideArchive,
  decideCreate,
  decideRename,
  decideUnarchive,
  type ThreadDecision,
  type ThreadState,
} from '@rookery/kernel';
import {
  AppError,
  branchIdOf,
  type CommandRequest,
  canonicalSha256,
  formatSubject,
  type RpcParams,
  rpcParams,
  type StoredCommit,
  seqOf,
  type Thread,
  threadIdOf,
  toWireEvents,
  type WireEvent,
} from '@rookery/protocol';
import { decideAndAppend, level } from '../append-decided.ts';
import type { AgentDeps } from '../deps.ts';
import { threadState } from '../queries.ts';
import { checkParams } from './params.ts';

interface Answer {
  result: unknown;
  seq?: number;
}

const turnsSubject = (world: string, threadId: string): string => formatSubject({ kind: 'turns', world, threadId });

/** The conversation event of a commit that has exactly one, and its seq. */
function eventOf(stored: StoredCommit): { event: WireEvent; seq: number } {
  const [event] = toWireEvents(stored);
  if (event === undefined) throw new AppError('INTERNAL');
  return { event, seq: seqOf(stored.streamSeq, stored.commit.events.length - 1) };
}

/** thread.create: once for each client request; a retry gets the first answer. */
export async function createThread(deps: AgentDeps, request: CommandRequest): Promise<Answer> {
  const params = checkParams(rpcParams['thread.create'], request.params);
  const { world, agentId, commandId } = request;
  const clientRequestId = params.clientRequestId ?? null;
  const threadId = threadIdOf(deps.homeId, clientRequestId ?? `command:${commandId}`);
  const branchId = branchIdOf(deps.homeId, threadId);
  const paramsSha256 = canonicalSha256({ title: params.title, workspace: params.workspace ?? null });
  const subject = turnsSubject(world, threadId);

  const first = async (): Promise<Answer> => {
    const [stored] = await deps.journal.readSubject(subject, 0);
    if (stored === undefined) throw new AppError('THREAD_NOT_FOUND');
    const { event, seq } = eventOf(stored);
    return { result: { thread: event.payload.thread, event }, seq };
  };

  const known = deps.model.read((db) => threadState(db, world, threadId));
  if (known !== null) {
    if (known.paramsSha256 !== paramsSha256) throw new AppError('IDEMPOTENCY_CONFLICT');
    return await first();
  }
  const asked = params.workspace ?? null;
  const workspace = await deps.tools.prepareWorkspace({ threadId, workspace: asked }, request);
  const command = { method: 'thread.create', clientRequestId, paramsSha256 };
  const decided = await decideAndAppend(
    deps,
    { subject, threadId, agentId, commandId, scope: { branchId } },
    (db, now) =>
      decideCreate(threadState(db, world, threadId), {
        command,
        threadId,
        branchId,
        title: params.title,
        workspace,
        now,
      }),
  );
  if ('unchanged' in decided) return await first();
  const { event, seq } = eventOf(decided.stored);
  return { result: { thread: event.payload.thread, event }, seq };
}

async function change(
  deps: AgentDeps,
  request: CommandRequest,
  threadId: string,
  decide: (state: ThreadState | null, now: string) => ThreadDecision,
): Promise<Answer> {
  const { world, agentId, commandId } = request;
  const branchId = branchIdOf(deps.homeId, threadId);
  const target = { subject: turnsSubject(world, threadId), threadId, agentId, commandId, scope: { branchId } };
  const attempt = () => decideAndAppend(deps, target, (db, now) => decide(threadState(db, world, threadId), now));
  let decided = await attempt();
  if ('unchanged' in decided) {
    // A view that lags could take for done what somebody has undone since.
    await level(deps);
    decided = await attempt();
  }
  if ('unchanged' in decided) {
    const thread = deps.model.read((db) => threadState(db, world, threadId))?.thread;
    return { result: { thread, changed: false, event: null } };
  }
  const { event, seq } = eventOf(decided.stored);
  return { result: { thread: event.payload.thread as Thread, changed: true, event }, seq };
}

/** thread.rename, thread.archive and thread.unarchive; what is so already changes nothing. */
export function threadCommands(deps: AgentDeps): Record<string, (request: CommandRequest) => Promise<Answer>> {
  return {
    'thread.create': (request) => createThread(deps, request),
    'thread.rename': (request) => {
      const { threadId, title }: RpcParams<'thread.rename'> = checkParams(rpcParams['thread.rename'], request.params);
      return change(deps, request, threadId, (state, now) => decideRename(state, title, now));
    },
    'thread.archive': (request) => {
      const { threadId } = checkParams(rpcParams['thread.archive'], request.params);
      return change(deps, request, threadId, decideArchive);
    },
    'thread.unarchive': (request) => {
      const { threadId } = checkParams(rpcParams['thread.unarchive'], request.params);
      return change(deps, request, threadId, decideUnarchive);
    },
  };
}
