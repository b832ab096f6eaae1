import { type Bus, connectBus, openBlobs, publicKeyOf, serveCommands, verifyAuthorization } from '@rookery/bus';
import { externalizeBlobs, type Journal, openJournal } from '@rookery/journal';
import {
  branchIdOf,
  type CommandRequest,
  type CommitEvent,
  canonicalSha256,
  commandIdOf,
  commitId,
  formatSubject,
  type RpcParams,
  runItemIdOf,
  threadIdOf,
  turnIdsOf,
} from '@rookery/protocol';
import type { TestNats } from '@rookery/testkit';

/** A turn as the small agent took it. */
export interface TakenTurn {
  threadId: string;
  turnId: string;
  runId: string;
  content: string;
  clientRequestId: string;
  /** True where the channels' own key signed thread and request. */
  signed: boolean;
}

/**
 * An agent that is all but empty: it answers thread.create and turn.start with the journal entries of a real one, once
 * for each request id, and settles every run at once. For tests of what stands before and behind an agent.
 */
export interface SmallAgent {
  readonly taken: TakenTurn[];
  /** Commands that came, repetitions included. */
  readonly calls: string[];
  stop(): Promise<void>;
}

export interface SmallAgentOptions {
  /** Text of the answer to a content; a failed run where it throws. */
  answer(content: string): string;
  /** Refuses a turn by throwing. */
  admit?(content: string): void;
}

const WORLD = 'home';

async function appendOnce(
  journal: Journal,
  on: { subject: string; cause: string; scope?: { branchId: string; turnId?: string; runId?: string } },
  events: CommitEvent[],
  bus: Bus,
  threadId: string,
): Promise<void> {
  const commit = await externalizeBlobs(
    {
      v: 1,
      id: commitId(on.subject, on.cause, 0),
      cause: on.cause,
      at: new Date().toISOString(),
      by: 'agent/small-0-1',
      agentId: 'main',
      ...on.scope,
      events,
    },
    openBlobs(bus),
    threadId,
  );
  const stored = await journal.readSubject(on.subject, 0);
  if (stored.some((one) => one.commit.id === commit.id)) return;
  const appended = await journal.append({ subject: on.subject, expected: stored.at(-1)?.streamSeq ?? 0, commit });
  if (appended.outcome !== 'committed') throw new Error('the small agent has company');
}

/** Starts a small agent under the agent's NATS user. */
export async function startSmallAgent(nats: TestNats, options: SmallAgentOptions): Promise<SmallAgent> {
  const bus = await connectBus({ url: nats.url, user: 'agent', seed: nats.seed('agent'), name: 'small agent' });
  const journal = openJournal(bus);
  const edge = publicKeyOf(nats.seed('channels'));
  const taken: TakenTurn[] = [];
  const calls: string[] = [];
  const chains = new Map<string, Promise<unknown>>();
  const serial = <T>(threadId: string, work: () => Promise<T>): Promise<T> => {
    const next = (chains.get(threadId) ?? Promise.resolve()).then(work, work);
    chains.set(threadId, next);
    return next;
  };
  const accepted = (method: string, clientRequestId: string, params: unknown): CommitEvent => ({
    type: 'command.accepted',
    payload: { method, clientRequestId, paramsSha256: canonicalSha256(params), authorization: null },
  });

  const createThread = async (params: RpcParams<'thread.create'>): Promise<object> => {
    const clientRequestId = params.clientRequestId ?? '';
    const threadId = threadIdOf(nats.homeId, clientRequestId);
    const branchId = branchIdOf(nats.homeId, threadId);
    const at = new Date().toISOString();
    const times = { createdAt: at, updatedAt: at };
    const thread = {
      id: threadId,
      title: params.title,
      defaultBranchId: branchId,
      workspace: null,
      ...times,
      archivedAt: null,
    };
    const branch = { id: branchId, threadId, createdAt: at, isDefault: true };
    const subject = formatSubject({ kind: 'turns', world: WORLD, threadId });
    const cause = commandIdOf(nats.homeId, 'thread.create', threadId, clientRequestId);
    const events = [
      accepted('thread.create', clientRequestId, params),
      { type: 'thread.created', payload: { thread, branch, clientRequestId } },
    ];
    await appendOnce(journal, { subject, cause, scope: { branchId } }, events, bus, threadId);
    return { thread };
  };

  const startTurn = async (request: CommandRequest): Promise<object> => {
    const params = request.params as RpcParams<'turn.start'> & { clientRequestId: string };
    const { threadId, branchId, content, providerId, modelId, clientRequestId } = params;
    const { turnId, runId, userItemId } = turnIdsOf(nats.homeId, threadId, clientRequestId);
    const result = { threadId, branchId, turnId, runId };
    options.admit?.(content);
    if (taken.some((turn) => turn.turnId === turnId)) return result;
    const at = new Date().toISOString();
    const times = { createdAt: at, updatedAt: at };
    const message = { turnId, runId, kind: 'message', status: 'completed', data: {}, ...times };
    const policy = { providerId, modelId, executionPolicy: 'full_access', skills: [] };
    const submission = {
      turn: { id: turnId, threadId, branchId, ordinal: 1, status: 'queued', ...times },
      run: { id: runId, turnId, ...policy, status: 'queued', createdAt: at, settledAt: null, clientRequestId },
      item: { ...message, id: userItemId, ordinal: 1, role: 'user', content },
      runConfig: {
        userItemId,
        threadId,
        branchId,
        turnId,
        runId,
        workspace: null,
        ...policy,
        publicProviderConfigFingerprint: 'ab'.repeat(32),
        tools: [],
        instructions: { outputStyle: null, identityCore: 'A small agent.', skillCatalog: null },
        contextWindow: 32_768,
      },
      clientRequestId,
    };
    const scope = { branchId, turnId, runId };
    const cause = commandIdOf(nats.homeId, 'turn.start', threadId, clientRequestId);
    const turns = formatSubject({ kind: 'turns', world: WORLD, threadId });
    const submitted = [
      accepted('turn.start', clientRequestId, params),
      { type: 'item.completed', itemId: userItemId, payload: submission },
    ];
    await appendOnce(journal, { subject: turns, cause, scope }, submitted, bus, threadId);

    const itemId = runItemIdOf(nats.homeId, runId, 2);
    const events: CommitEvent[] = [{ type: 'run.claimed', payload: { holder: 'small-0-1', epoch: 1 } }];
    try {
      const item = { ...message, id: itemId, ordinal: 2, role: 'assistant', content: options.answer(content) };
      events.push({ type: 'item.completed', itemId, payload: { item } });
      events.push({ type: 'run.settled', payload: { status: 'completed', settledAt: at } });
    } catch {
      events.push({ type: 'run.settled', payload: { status: 'failed', settledAt: at, reasonCode: 'provider_failed' } });
    }
    const run = formatSubject({ kind: 'run', world: WORLD, threadId, runId });
    await appendOnce(journal, { subject: run, cause, scope }, events, bus, threadId);
    const claim = request.authorization;
    const own = claim !== undefined && claim.threadId === threadId && claim.clientRequestId === clientRequestId;
    taken.push({ ...result, content, clientRequestId, signed: own && verifyAuthorization(claim, [edge]) });
    return result;
  };

  const server = await serveCommands(
    bus,
    { service: 'agent', instance: 'small-0-1', version: '0.0.0' },
    {
      'thread.create': async ({ params }) => {
        const own = params as RpcParams<'thread.create'>;
        calls.push('thread.create');
        return { result: await serial(String(own.clientRequestId), () => createThread(own)) };
      },
      'turn.start': async (request) => {
        calls.push('turn.start');
        const { threadId } = request.params as { threadId: string };
        return { result: await serial(threadId, () => startTurn(request)) };
      },
    },
  );
  return {
    taken,
    calls,
    async stop() {
      await server.stop();
      await bus.close();
    },
  };
}
