import type { Item, Thread, WireEvent } from '../wire/types.ts';

/** A conversation as the gateway would send it: all 15 event types, two turns. Written by hand for the tests beside it. */

export const threadId = 'thread_1';
const branchId = 'branch_1';

const at = (n: number) => new Date(Date.UTC(2026, 10, 30, 12, 0, 0, n)).toISOString();

export const thread: Thread = {
  id: threadId,
  title: null,
  defaultBranchId: branchId,
  workspace: { id: 'workspace_1', name: '2026-11-30', kind: 'managed', rootUri: '/home/me/Rookery/1' },
  createdAt: at(1),
  updatedAt: at(1),
  archivedAt: null,
};

type Scope = { turnId?: string; runId?: string; itemId?: string };

let n = 0;
const trace: WireEvent[] = [];

function add(type: string, scope: Scope, payload: Record<string, unknown>): void {
  n += 1;
  trace.push({
    seq: n * 1024,
    prevSeq: (n - 1) * 1024,
    schemaVersion: 11,
    type,
    threadId,
    branchId,
    turnId: scope.turnId ?? null,
    runId: scope.runId ?? null,
    itemId: scope.itemId ?? null,
    timestamp: at(n),
    payload: { ...scope, ...payload },
  });
}

function item(run: string, ordinal: number, change: Partial<Item>): Item {
  return {
    id: `item_${run}_${ordinal}`,
    turnId: `turn_${run}`,
    runId: `run_${run}`,
    ordinal,
    kind: 'message',
    role: 'assistant',
    status: 'completed',
    content: '',
    data: {},
    createdAt: at(n),
    updatedAt: at(n),
    ...change,
  };
}

function addItem(type: string, run: string, one: Item, more: Record<string, unknown> = {}): void {
  add(type, { turnId: `turn_${run}`, runId: `run_${run}`, itemId: one.id }, { ...more, item: one });
}

const scope = (run: string, ordinal?: number): Scope => ({
  turnId: `turn_${run}`,
  runId: `run_${run}`,
  ...(ordinal === undefined ? {} : { itemId: `item_${run}_${ordinal}` }),
});

function submit(run: string, ordinal: number, content: string): void {
  const user = item(run, 1, { role: 'user', content });
  const turn = {
    id: `turn_${run}`,
    threadId,
    branchId,
    ordinal,
    status: 'queued',
    createdAt: at(n),
    updatedAt: at(n),
  };
  const frozen = {
    id: `run_${run}`,
    turnId: `turn_${run}`,
    providerId: 'scripted',
    modelId: 'scripted-v1',
    executionPolicy: 'full_access',
    status: 'queued',
    createdAt: at(n),
    settledAt: null,
    skills: [],
    clientRequestId: `request_${run}`,
  };
  addItem('item.completed', run, user, { turn, run: frozen, runConfig: {}, clientRequestId: `request_${run}` });
  add('run.state_changed', scope(run), { status: 'queued' });
  add('run.state_changed', scope(run), { status: 'running' });
}

const usage = (inputTokens: number, outputTokens: number) => ({
  inputTokens,
  cachedInputTokens: null,
  outputTokens,
  reasoningOutputTokens: null,
  totalTokens: inputTokens + outputTokens,
});

function answer(run: string, ordinal: number, parts: readonly string[]): void {
  addItem('item.started', run, item(run, ordinal, { status: 'streaming' }));
  for (const delta of parts) add('item.delta', scope(run, ordinal), { delta });
  addItem('item.completed', run, item(run, ordinal, { content: parts.join('') }));
}

add('thread.created', {}, { thread, branch: { id: branchId, threadId, createdAt: at(1), isDefault: true } });

submit('a', 1, 'Write the notes,\nplease');
add('model.input_prepared', scope('a'), { stepOrdinal: 1, preparedAt: at(n), contextRevision: {}, stepInput: {} });
const call = { stepId: 'step_1', callId: 'call_1', toolName: 'process_start', arguments: { command: 'ls' } };
addItem('item.started', 'a', item('a', 2, { kind: 'tool_call', role: null, status: 'running', data: call }));
add('model.response_finished', scope('a'), { stepOrdinal: 1, outcome: 'completed', usage: usage(100, 10) });
const process = {
  processId: 'process_1',
  itemId: 'item_a_2',
  command: 'ls',
  cwd: '/',
  state: 'running',
  exitCode: null,
  output: '',
};
add('process.recorded', scope('a', 2), { process });
addItem('item.completed', 'a', item('a', 2, { kind: 'tool_call', role: null, data: call }));
const result = { toolCallItemId: 'item_a_2', toolName: 'process_start', result: { ok: true, output: 'notes.txt' } };
addItem('item.completed', 'a', item('a', 3, { kind: 'tool_result', role: 'tool', content: '{}', data: result }));
add('file.change_recorded', scope('a', 2), {
  toolCallItemId: 'item_a_2',
  path: 'notes.txt',
  operation: 'write',
  status: 'recorded',
  additions: 1,
});
const steer = { steer: true, clientRequestId: 'steer_1', status: 'received' };
addItem('run.steered', 'a', item('a', 4, { role: 'user', status: 'streaming', content: 'and soon', data: steer }), {
  content: 'and soon',
  clientRequestId: 'steer_1',
  status: 'received',
});
addItem(
  'item.completed',
  'a',
  item('a', 4, { role: 'user', content: 'and soon', data: { ...steer, status: 'processed' } }),
);
add('context.compacted', scope('a'), { revision: 2 });
add('model.input_prepared', scope('a'), { stepOrdinal: 2, preparedAt: at(n), contextRevision: null, stepInput: {} });
answer('a', 5, ['Done', ', it is', ' written.']);
add('model.response_finished', scope('a'), { stepOrdinal: 2, outcome: 'completed', usage: usage(200, 20) });
add('run.settled', scope('a'), { status: 'completed', settledAt: at(n) });

add('thread.renamed', {}, { thread: { ...thread, title: 'Notes', updatedAt: at(n + 1) } });

submit('b', 2, 'And again');
answer('b', 2, ['No']);
add('run.settled', scope('b'), { status: 'failed', settledAt: at(n), reasonCode: 'provider_timeout' });
add('thread.archived', {}, { thread: { ...thread, title: 'Notes', updatedAt: at(n + 1), archivedAt: at(n + 1) } });
add('thread.unarchived', {}, { thread: { ...thread, title: 'Notes', updatedAt: at(n + 1) } });

export const events: readonly WireEvent[] = trace;
