import {
  branchIdOf,
  type Commit,
  type CommitEvent,
  commitId,
  formatSubject,
  type Item,
  processIdOf,
  runItemIdOf,
  type StoredCommit,
  steerFollowUpRequestId,
  steerItemIdOf,
  threadIdOf,
  turnIdsOf,
  type Workspace,
} from '@rookery/protocol';

/** Conversations made up for tests: commits as an agent writes them, without an agent. */

export interface SampleOptions {
  threads?: number;
  /** Number of the first thread, for a conversation made in pieces. Default 0. */
  from?: number;
  /** Turns of each thread. */
  turns?: number;
  /** Deltas of each answer, one commit each. */
  deltas?: number;
  /** Picks the thread whose next commit comes next; default: one thread after the other. */
  pick?(waiting: number): number;
}

const HOME = 'c0ffee00-0000-4000-8000-000000000001';
const WORLD = 'home';
const AGENT = 'main';
const HASH = 'ab'.repeat(32);
const workspace: Workspace = { id: 'workspace_1', name: 'demo', kind: 'project', rootUri: '/tmp/demo' };

type Step = { subject: string; scope: Pick<Commit, 'branchId' | 'turnId' | 'runId'>; events: CommitEvent[] };

/** Times that grow with every step, so that what is written can be told apart. */
function clock() {
  let ms = Date.UTC(2026, 10, 30, 12);
  return () => {
    ms += 10;
    return new Date(ms).toISOString();
  };
}

interface ThreadContext {
  threadId: string;
  branchId: string;
  now(): string;
}

function accepted(method: string, clientRequestId: string): CommitEvent {
  return { type: 'command.accepted', payload: { method, clientRequestId, paramsSha256: HASH, authorization: null } };
}

function createThread(context: ThreadContext, clientRequestId: string, title: string | null): Step {
  const { threadId, branchId } = context;
  const at = context.now();
  const thread = {
    id: threadId,
    title,
    defaultBranchId: branchId,
    workspace,
    createdAt: at,
    updatedAt: at,
    archivedAt: null,
  };
  const branch = { id: branchId, threadId, createdAt: at, isDefault: true };
  return {
    subject: formatSubject({ kind: 'turns', world: WORLD, threadId }),
    scope: { branchId },
    events: [
      accepted('thread.create', clientRequestId),
      { type: 'thread.created', payload: { thread, branch, clientRequestId } },
    ],
  };
}

interface TurnContext extends ThreadContext {
  turnId: string;
  runId: string;
  ordinal: number;
  deltas: number;
}

function itemOf(
  turn: TurnContext,
  more: Partial<Item> & Pick<Item, 'id' | 'ordinal' | 'kind' | 'role' | 'status'>,
): Item {
  const at = turn.now();
  return { turnId: turn.turnId, runId: turn.runId, content: '', data: {}, createdAt: at, updatedAt: at, ...more };
}

function submit(turn: TurnContext, itemId: string, clientRequestId: string): Step {
  const { threadId, branchId, turnId, runId, ordinal } = turn;
  const at = turn.now();
  const run = { id: runId, turnId, providerId: 'demo', modelId: 'demo-1', executionPolicy: 'full_access', skills: [] };
  const runConfig = {
    userItemId: itemId,
    threadId,
    branchId,
    turnId,
    runId,
    workspace,
    providerId: 'demo',
    modelId: 'demo-1',
    publicProviderConfigFingerprint: HASH,
    executionPolicy: 'full_access',
    skills: [],
    tools: [],
    instructions: { outputStyle: null, identityCore: 'You are a sample.', skillCatalog: null },
    contextWindow: 32_768,
  };
  const payload = {
    turn: { id: turnId, threadId, branchId, ordinal, status: 'queued', createdAt: at, updatedAt: at },
    run: { ...run, status: 'queued', createdAt: at, settledAt: null, clientRequestId },
    item: itemOf(turn, {
      id: itemId,
      ordinal: 1,
      kind: 'message',
      role: 'user',
      status: 'completed',
      content: `question ${ordinal}`,
    }),
    runConfig,
    clientRequestId,
  };
  return {
    subject: formatSubject({ kind: 'turns', world: WORLD, threadId }),
    scope: { branchId, turnId, runId },
    events: [
      accepted('turn.start', clientRequestId),
      { type: 'item.completed', itemId, payload },
      { type: 'run.state_changed', payload: { status: 'queued' } },
    ],
  };
}

const prepared = (turn: TurnContext, stepOrdinal: number, throughItemId: string): CommitEvent => ({
  type: 'model.input_prepared',
  payload: {
    stepOrdinal,
    preparedAt: turn.now(),
    contextRevision:
      stepOrdinal > 1
        ? null
        : {
            revision: 1,
            historyGroups: [],
            historyItems: [],
            memory: [],
            budget: {},
            omissions: [],
            historyStatus: null,
            memoryContextCharacters: 0,
            compactionSummary: null,
            currentRunOmittedThroughItemId: null,
          },
    stepInput: { stepOrdinal, contextRevision: 1, messages: 2, throughItemId, inputTokensBound: 100 },
  },
});

const finished = (turn: TurnContext, stepOrdinal: number): CommitEvent => ({
  type: 'model.response_finished',
  payload: {
    stepOrdinal,
    providerId: 'demo',
    modelId: 'demo-1',
    outcome: 'completed',
    reasonCode: null,
    responseModelId: null,
    requestId: null,
    usage: { inputTokens: 10, cachedInputTokens: null, outputTokens: 5, reasoningOutputTokens: null, totalTokens: 15 },
    activityDate: '2026-11-30',
    finishedAt: turn.now(),
  },
});

/** A call of a command: its intent, its process on a subject of its own, its result. */
function toolRound(turn: TurnContext, on: (events: CommitEvent[]) => Step): Step[] {
  const { threadId, branchId, turnId, runId } = turn;
  const id = runItemIdOf(HOME, runId, 2);
  const resultId = runItemIdOf(HOME, runId, 3);
  const processId = processIdOf(runId, id);
  const data = { stepId: 'step_1', callId: 'call_1', toolName: 'process_start', arguments: { command: 'uname' } };
  const call = itemOf(turn, { id, ordinal: 2, kind: 'tool_call', role: 'assistant', status: 'running', data });
  const result = itemOf(turn, {
    id: resultId,
    ordinal: 3,
    kind: 'tool_result',
    role: 'tool',
    status: 'completed',
    content: '{"ok":true,"output":"Linux"}',
    data: { stepId: 'step_1', callId: 'call_1', toolCallItemId: id, toolName: 'process_start' },
  });
  const record = (state: string, exitCode: number | null) => ({
    processId,
    threadId,
    runId,
    stepOrdinal: 1,
    itemId: id,
    command: 'uname',
    cwd: '/tmp/demo',
    state,
    exitCode,
    pid: 7,
    startedAt: turn.now(),
    finishedAt: exitCode === null ? null : turn.now(),
    stdout: '',
    stderr: '',
    output: '',
    truncated: false,
    errorCode: null,
    background: false,
  });
  const process = (state: string, exitCode: number | null): Step => ({
    subject: formatSubject({ kind: 'process', world: WORLD, threadId, processId }),
    scope: { branchId, turnId, runId },
    events: [{ type: 'process.recorded', itemId: id, payload: { process: record(state, exitCode) } }],
  });
  return [
    on([{ type: 'item.started', itemId: id, payload: { item: call } }, finished(turn, 1)]),
    process('running', null),
    process('exited', 0),
    on([
      { type: 'item.completed', itemId: id, payload: { item: { ...call, status: 'completed' } } },
      { type: 'item.completed', itemId: resultId, payload: { item: result } },
    ]),
  ];
}

/** An answer that streams, a steer on the way that no call sees any more, and the end of the run. */
function answer(turn: TurnContext, on: (events: CommitEvent[]) => Step): Step[] {
  const id = runItemIdOf(HOME, turn.runId, 4);
  const item = itemOf(turn, { id, ordinal: 4, kind: 'message', role: 'assistant', status: 'streaming' });
  const texts = Array.from({ length: turn.deltas }, (_, index) => `word ${index} `);
  const steps = [
    on([prepared(turn, 2, runItemIdOf(HOME, turn.runId, 3))]),
    on([{ type: 'item.started', itemId: id, payload: { item } }]),
    ...texts.map((delta) => on([{ type: 'item.delta', itemId: id, payload: { delta } }])),
  ];
  const last: CommitEvent[] = [
    {
      type: 'item.completed',
      itemId: id,
      payload: { item: { ...item, status: 'completed', content: texts.join('') } },
    },
    finished(turn, 2),
  ];
  if (turn.ordinal === 1) {
    const steerId = steerItemIdOf(HOME, turn.runId, 'steer-1');
    const data = { steer: true, clientRequestId: 'steer-1', status: 'received' };
    const content = 'and then?';
    const steer = itemOf(turn, {
      id: steerId,
      ordinal: 5,
      kind: 'message',
      role: 'user',
      status: 'streaming',
      content,
      data,
    });
    steps.push(
      on([
        accepted('run.steer', 'steer-1'),
        {
          type: 'run.steered',
          itemId: steerId,
          payload: { content, clientRequestId: 'steer-1', status: 'received', item: steer },
        },
      ]),
    );
    last.push(
      { type: 'item.completed', itemId: steerId, payload: { item: { ...steer, status: 'cancelled' } } },
      { type: 'run.steers_left', payload: { steers: [{ itemId: steerId, content }] } },
    );
  }
  last.push({ type: 'run.settled', payload: { status: 'completed', settledAt: turn.now() } });
  return [...steps, on(last)];
}

function turnSteps(thread: ThreadContext, ordinal: number, deltas: number, clientRequestId: string): Step[] {
  const ids = turnIdsOf(HOME, thread.threadId, clientRequestId);
  const turn: TurnContext = { ...thread, ...ids, ordinal, deltas };
  const on = (events: CommitEvent[]): Step => ({
    subject: formatSubject({ kind: 'run', world: WORLD, threadId: thread.threadId, runId: ids.runId }),
    scope: { branchId: thread.branchId, turnId: ids.turnId, runId: ids.runId },
    events,
  });
  return [
    submit(turn, ids.userItemId, clientRequestId),
    on([
      { type: 'run.claimed', payload: { holder: 'host-0-boot', epoch: 1 } },
      { type: 'run.state_changed', payload: { status: 'running' } },
    ]),
    on([prepared(turn, 1, ids.userItemId)]),
    ...toolRound(turn, on),
    ...answer(turn, on),
  ];
}

function threadSteps(
  index: number,
  options: Required<Pick<SampleOptions, 'turns' | 'deltas'>>,
  now: () => string,
): Step[] {
  const clientRequestId = `thread-${index}`;
  const threadId = threadIdOf(HOME, clientRequestId);
  const context: ThreadContext = { threadId, branchId: branchIdOf(HOME, threadId), now };
  const steps = [createThread(context, clientRequestId, index % 2 === 0 ? `Sample ${index}` : null)];
  for (let ordinal = 1; ordinal <= options.turns; ordinal += 1) {
    // The second turn is the one that the left steer of the first becomes.
    const first = turnIdsOf(HOME, threadId, 'turn-1').runId;
    const followUp = steerFollowUpRequestId(first, steerItemIdOf(HOME, first, 'steer-1'));
    steps.push(...turnSteps(context, ordinal, options.deltas, ordinal === 2 ? followUp : `turn-${ordinal}`));
  }
  return steps;
}

/** The commits of a made-up journal, numbered from 1 as its stream would number them. */
export function sampleConversation(options: SampleOptions = {}): StoredCommit[] {
  const { threads = 1, from = 0, turns = 2, deltas = 3, pick = () => 0 } = options;
  const now = clock();
  const queues = Array.from({ length: threads }, (_, index) => threadSteps(from + index, { turns, deltas }, now));
  const stored: StoredCommit[] = [];
  while (queues.length > 0) {
    const at = pick(queues.length) % queues.length;
    const step = queues[at]?.shift();
    if (step === undefined) {
      queues.splice(at, 1);
      continue;
    }
    const streamSeq = stored.length + 1;
    const cause = `command-${streamSeq}`;
    stored.push({
      streamSeq,
      subject: step.subject,
      commit: {
        v: 1,
        id: commitId(step.subject, cause, 0),
        cause,
        at: now(),
        by: 'agent/host/0/boot',
        agentId: AGENT,
        ...step.scope,
        events: step.events,
      },
    });
  }
  return stored;
}

/** A commit as the stream hands it out. */
export function encodeStored(stored: StoredCommit): {
  streamSeq: number;
  subject: string;
  data: Uint8Array;
  isCommit: boolean;
} {
  const data = new TextEncoder().encode(JSON.stringify(stored.commit));
  return { streamSeq: stored.streamSeq, subject: stored.subject, data, isCommit: true };
}
