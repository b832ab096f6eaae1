import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AgentHouse, eventsOf, MODEL, PROVIDER, startAgentHouse } from './agent-house.ts';

let house: AgentHouse;

beforeAll(async () => {
  house = await startAgentHouse();
  await house.startRunner();
  await house.startAgent();
});
afterAll(() => house.stop());

const script = (directive: object) => `#script ${JSON.stringify(directive)}`;
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no error',
    (error: { code?: string }) => error.code ?? String(error),
  );

test('a turn is answered: one claim, the text in deltas, one settlement', async () => {
  const thread = await house.createThread();
  const { runId } = await house.startTurn(thread, script({ text: 'Hello there', deltas: 3, delayMs: 5 }), 'r1');
  const events = eventsOf(await house.settled(thread, runId));
  expect(events.filter((event) => event.type === 'run.claimed')).toHaveLength(1);
  expect(events.filter((event) => event.type === 'run.settled').map((event) => event.payload.status)).toEqual([
    'completed',
  ]);
  const text = events.filter((event) => event.type === 'item.delta').map((event) => event.payload.delta);
  expect(text.join('')).toBe('Hello there');
  const final = events.find((event) => event.type === 'item.completed')?.payload.item;
  expect(final).toMatchObject({ content: 'Hello there', status: 'completed', role: 'assistant', ordinal: 2 });
});

test('tools are called on the runner and their results go back to the model', async () => {
  const thread = await house.createThread();
  const tools = [{ name: 'write', arguments: { filePath: 'a.txt', content: 'one\n' } }];
  const { runId } = await house.startTurn(thread, script({ tools, text: 'written' }), 'r1');
  const events = eventsOf(await house.settled(thread, runId));
  const completed = events
    .filter((event) => event.type === 'item.completed')
    .map((event) => event.payload.item as { kind: string; status: string });
  expect(completed.map((item) => `${item.kind} ${item.status}`)).toEqual([
    'tool_call completed',
    'tool_result completed',
    'message completed',
  ]);
  const last = house.model.requests.at(-1)?.body.messages ?? [];
  expect(last.map((message) => message.role)).toEqual(['system', 'user', 'assistant', 'tool']);
});

test('the next turn of the thread sees the one before', async () => {
  const thread = await house.createThread();
  const first = await house.startTurn(thread, script({ text: 'the answer is 42' }), 'r1');
  await house.settled(thread, first.runId);
  const second = await house.startTurn(thread, script({ text: 'again' }), 'r2');
  await house.settled(thread, second.runId);
  const roles = (house.model.requests.at(-1)?.body.messages ?? []).map((message) => message.role);
  expect(roles).toEqual(['system', 'user', 'assistant', 'user']);
});

test('the same request is answered the same and changes nothing', async () => {
  const params = { title: 'Once', clientRequestId: 'same-thread' };
  const first = await house.command('thread.create', params);
  expect(await house.command('thread.create', params)).toEqual(first);
  expect(await codeOf(house.command('thread.create', { ...params, title: 'Twice' }))).toBe('IDEMPOTENCY_CONFLICT');
  const thread = await house.createThread();
  const turn = await house.startTurn(thread, script({ text: 'x' }), 'r1');
  expect(await house.startTurn(thread, script({ text: 'x' }), 'r1')).toEqual(turn);
  expect(await codeOf(house.startTurn(thread, script({ text: 'y' }), 'r1'))).toBe('IDEMPOTENCY_CONFLICT');
  await house.settled(thread, turn.runId);
});

test('a rename that is repeated after another one is answered as the first time, and changes nothing', async () => {
  const thread = await house.createThread();
  const rename = (title: string, commandId: string) =>
    house.command<{ thread: { title: string } }>('thread.rename', { threadId: thread.id, title }, commandId);
  const first = await rename('First', 'rename-1');
  await rename('Second', 'rename-2');
  expect(await rename('First', 'rename-1')).toEqual(first);
  const { thread: now } = await rename('Second', 'rename-3');
  expect(now.title).toBe('Second');
});

test('turns of one thread run one after the other, in order', async () => {
  const thread = await house.createThread();
  const started = [];
  for (let index = 0; index < 4; index += 1) {
    started.push(await house.startTurn(thread, script({ text: `t${index}`, deltas: 2, delayMs: 20 }), `r${index}`));
  }
  const spans = [];
  for (const { runId } of started) {
    const commits = await house.settled(thread, runId);
    spans.push([commits[0]?.streamSeq ?? 0, commits.at(-1)?.streamSeq ?? 0] as const);
  }
  for (let index = 1; index < spans.length; index += 1) {
    expect(spans[index]?.[0]).toBeGreaterThan(spans[index - 1]?.[1] ?? 0);
  }
});

test('a running run is cancelled with its partial text, a queued one without having run', async () => {
  const thread = await house.createThread();
  const running = await house.startTurn(
    thread,
    script({ text: 'abcdefghij'.repeat(50), deltas: 200, delayMs: 20 }),
    'r1',
  );
  const queued = await house.startTurn(thread, script({ text: 'never' }), 'r2');
  await expect
    .poll(async () =>
      eventsOf(await house.runCommits(thread, running.runId)).some((event) => event.type === 'item.delta'),
    )
    .toBe(true);
  const cancelled = await house.command('run.cancel', { runId: queued.runId }, 'cancel-queued');
  expect(cancelled).toMatchObject({ accepted: true });
  expect(await house.command('run.cancel', { runId: running.runId })).toMatchObject({
    accepted: true,
    status: 'running',
  });
  const events = eventsOf(await house.settled(thread, running.runId));
  expect(events.at(-1)?.payload).toMatchObject({ status: 'cancelled', reasonCode: 'cancelled' });
  const partial = events.find((event) => event.type === 'item.completed')?.payload.item as {
    status: string;
    content: string;
  };
  expect(partial.status).toBe('cancelled');
  expect(partial.content.length).toBeGreaterThan(0);
  const settled = await house.settled(thread, queued.runId);
  expect(settled.map(({ commit }) => commit.cause)).toEqual(['cancel-queued']);
  const other = eventsOf(settled);
  expect(other.map((event) => event.type)).toEqual(['run.settled']);
  expect(await house.command('run.cancel', { runId: running.runId })).toMatchObject({
    accepted: false,
    status: 'cancelled',
  });
});

test('a steer reaches the next model call of the running run', async () => {
  const thread = await house.createThread();
  const { runId } = await house.startTurn(thread, script({ text: 'slow answer text', deltas: 16, delayMs: 40 }), 'r1');
  await expect.poll(async () => (await house.runCommits(thread, runId)).length).toBeGreaterThan(0);
  const steer = { runId, expectedRunId: runId, content: 'and say it twice', clientRequestId: 's1' };
  expect(await house.command('run.steer', steer)).toMatchObject({ accepted: true, status: 'received' });
  expect(await house.command('run.steer', steer)).toMatchObject({ accepted: true, status: 'received' });
  const events = eventsOf(await house.settled(thread, runId));
  expect(events.filter((event) => event.type === 'run.steered')).toHaveLength(1);
  expect(events.filter((event) => event.type === 'model.input_prepared')).toHaveLength(2);
  const messages = house.model.requests.at(-1)?.body.messages ?? [];
  expect(messages.at(-1)).toMatchObject({ role: 'user', content: 'and say it twice' });
});

test('a steer that no model call has seen becomes the next turn', async () => {
  const thread = await house.createThread();
  const { runId } = await house.startTurn(thread, script({ text: 'slow answer text', deltas: 16, delayMs: 100 }), 'r1');
  await expect.poll(async () => (await house.runCommits(thread, runId)).length).toBeGreaterThan(0);
  await house.command('run.steer', { runId, expectedRunId: runId, content: 'unseen words', clientRequestId: 's1' });
  await house.command('run.cancel', { runId });
  const before = house.model.requests.length;
  await house.settled(thread, runId);
  await expect
    .poll(() =>
      house.model.requests.slice(before).some((request) => request.body.messages.at(-1)?.content === 'unseen words'),
    )
    .toBe(true);
});

test('provider failures settle the run with a reason of the protocol', async () => {
  const thread = await house.createThread();
  const { runId } = await house.startTurn(thread, script({ fail: { at: 0, status: 401 } }), 'r1');
  const events = eventsOf(await house.settled(thread, runId));
  expect(events.at(-1)?.payload).toMatchObject({ status: 'failed', reasonCode: 'provider_authentication' });
});

test('refusals have stable codes', async () => {
  const thread = await house.createThread();
  const base = {
    threadId: thread.id,
    branchId: thread.defaultBranchId,
    content: 'x',
    providerId: PROVIDER,
    modelId: MODEL,
  };
  expect(await codeOf(house.command('turn.start', { ...base, threadId: 'thread_nowhere' }))).toBe('THREAD_NOT_FOUND');
  expect(await codeOf(house.command('turn.start', { ...base, branchId: 'branch_other' }))).toBe('BRANCH_NOT_FOUND');
  expect(await codeOf(house.command('turn.start', { ...base, content: '  \n' }))).toBe('CONTENT_EMPTY');
  expect(await codeOf(house.command('turn.start', { ...base, content: 'x'.repeat(256 * 1024 + 1) }))).toBe(
    'CONTENT_TOO_LARGE',
  );
  expect(await codeOf(house.command('turn.start', { ...base, modelId: 'none' }))).toBe('MODEL_NOT_CONFIGURED');
  expect(await codeOf(house.command('turn.start', { ...base, extra: 1 }))).toBe('INVALID_PARAMS');
  expect(await codeOf(house.command('run.cancel', { runId: 'run_nowhere' }))).toBe('RUN_NOT_FOUND');
  await house.command('thread.archive', { threadId: thread.id });
  expect(await codeOf(house.command('turn.start', base))).toBe('THREAD_ARCHIVED');
  expect(await house.command('thread.unarchive', { threadId: thread.id })).toMatchObject({ changed: true });
  expect(await house.command('thread.unarchive', { threadId: thread.id })).toMatchObject({
    changed: false,
    event: null,
  });
});

test('archiving is refused while a turn is unsettled', async () => {
  const thread = await house.createThread();
  const { runId } = await house.startTurn(thread, script({ text: 'slow', deltas: 4, delayMs: 100 }), 'r1');
  expect(await codeOf(house.command('thread.archive', { threadId: thread.id }))).toBe('THREAD_BUSY');
  await house.settled(thread, runId);
  await expect.poll(() => codeOf(house.command('thread.archive', { threadId: thread.id }))).toBe('no error');
});

test('a long answer is stored whole, in deltas and as one text outside the commit', async () => {
  const thread = await house.createThread();
  const text = '好'.repeat(80_000);
  const { runId } = await house.startTurn(thread, script({ text }), 'r1');
  const events = eventsOf(await house.settled(thread, runId));
  const deltas = events.filter((event) => event.type === 'item.delta').map((event) => event.payload.delta);
  expect(deltas.join('')).toBe(text);
  const final = events.find((event) => event.type === 'item.completed')?.payload.item;
  expect(final).toMatchObject({ status: 'completed', content: { bytes: 240_000 } });
  expect(events.at(-1)?.payload).toMatchObject({ status: 'completed' });
});

test('at most 64 steers wait for a model call; the next one is refused', async () => {
  const thread = await house.createThread();
  const { runId } = await house.startTurn(thread, script({ text: 'slow answer', deltas: 11, delayMs: 300 }), 'r1');
  await expect.poll(async () => (await house.runCommits(thread, runId)).length).toBeGreaterThan(0);
  const steer = (n: number) =>
    house.command('run.steer', { runId, expectedRunId: runId, content: `s${n}`, clientRequestId: `s${n}` });
  await Promise.all(Array.from({ length: 64 }, (_, n) => steer(n)));
  expect(await codeOf(steer(64))).toBe('RATE_LIMITED');
  expect(await steer(3)).toMatchObject({ accepted: true });
  await house.command('run.cancel', { runId });
  await house.settled(thread, runId);
});
