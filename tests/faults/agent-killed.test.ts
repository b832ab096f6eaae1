import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { callCommand, connectBus } from '@rookery/bus';
import { commandSubject, type Item, type ToolCallState } from '@rookery/protocol';
import {
  answerOf,
  createThread,
  eventually,
  type FaultHouse,
  itemOfEvent,
  type RpcClient,
  startFaultHouse,
  startTurn,
  submissionFact,
  waitEvent,
  waitSettled,
} from '@rookery/testkit';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';

const INTERRUPTED = { status: 'failed', reasonCode: 'runtime_interrupted' };
const COMPLETED = { status: 'completed', reasonCode: null };

let house: FaultHouse;
let client: RpcClient;
/** Lines that tools have left, one for each time that one ran. */
let effects: string[] = [];

beforeAll(async () => {
  house = await startFaultHouse({ faults: true, services: ['gateway', 'agent', 'tool-runner'] });
  client = await house.rookery.client();
});
afterAll(() => house?.stop());
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') process.stderr.write(`${await house.rookery.logs()}\n`);
  else await house.check({ effects });
});

const effectFile = () => join(house.rookery.home, 'effects');
async function readEffects(): Promise<string[]> {
  effects = (await readFile(effectFile(), 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
  return effects;
}

it.each([
  ['before the append: the repeated request is stored once', 'agent:before-append'],
  ['after the append and before the reply: the repeated request meets its first result', 'agent:after-append'],
])('kills the agent %s', async (_title, fault) => {
  const { rookery, history, follower, model } = house;
  const thread = await createThread(client);
  const asked = model.requests.length;
  await rookery.withFault('agent', fault);
  const { starts } = rookery.service('agent');
  const ask = () =>
    history.attempt('turn.start', submissionFact(fault), () =>
      startTurn(client, thread, 'hello #script {"text":"hello there"}', fault),
    );
  const started = await eventually('the turn to be accepted', ask, { timeoutMs: 60_000, everyMs: 100 });
  expect(rookery.service('agent').starts).toBe(starts + 1);
  expect(await startTurn(client, thread, 'hello #script {"text":"hello there"}', fault)).toEqual(started);
  expect(await waitSettled(follower.events, started.runId)).toEqual(COMPLETED);
  expect(answerOf(follower.events, started.runId)).toBe('hello there');
  expect(model.requests).toHaveLength(asked + 1);
});

it('kills the agent while the model streams: interrupted with the text so far, and no further model call', async () => {
  const { rookery, follower, model } = house;
  const thread = await createThread(client);
  const asked = model.requests.length;
  const text = Array.from({ length: 20 }, (_, n) => `piece ${n}. `).join('');
  const { runId } = await startTurn(client, thread, `go #script ${JSON.stringify({ text, deltas: 20, delayMs: 100 })}`);
  const deltas = () => follower.events.filter((event) => event.runId === runId && event.type === 'item.delta').length;
  await eventually('some deltas', () => deltas() >= 4);
  await rookery.killAndWait('agent');
  expect(await waitSettled(follower.events, runId)).toEqual(INTERRUPTED);
  const kept = answerOf(follower.events, runId);
  expect(kept.length).toBeGreaterThan(20);
  expect(kept.length).toBeLessThan(text.length);
  expect(text.startsWith(kept)).toBe(true);
  expect(model.requests).toHaveLength(asked + 1);

  const next = await startTurn(client, thread, 'and now #script {"text":"on we go"}');
  expect(await waitSettled(follower.events, next.runId)).toEqual(COMPLETED);
  expect(model.requests).toHaveLength(asked + 2);
});

/** What the runner knows of a call, asked as the agent asks. */
async function inspect(itemId: string): Promise<ToolCallState> {
  const { url, seed } = house.rookery.nats;
  const bus = await connectBus({ url, user: 'agent', seed: seed('agent'), name: 'inspect' });
  try {
    const request = {
      method: 'inspect',
      params: { itemId, waitMs: 500 },
      commandId: itemId,
      agentId: 'main',
      world: 'home',
    };
    const subject = commandSubject('tool', 'inspect', 'main');
    return (await callCommand<ToolCallState>(bus, subject, request, { timeoutMs: 3000 })).result;
  } finally {
    await bus.close();
  }
}

/** A command that leaves a line, then a call that waits for its end. */
function toolTurn(name: string): string {
  const start = { name: 'process_start', arguments: { command: `echo ${name} >> ${effectFile()}; sleep 3` } };
  const wait = { name: 'process_wait', arguments: { processId: '$result', timeoutMs: 10_000 } };
  return `work #script ${JSON.stringify({ rounds: [[start], [wait]], text: 'done' })}`;
}

it('kills the agent between the intent of a tool call and its invocation: the tool does not run', async () => {
  const { rookery, follower, model } = house;
  const thread = await createThread(client);
  const asked = model.requests.length;
  await rookery.withFault('agent', 'agent:before-invoke');
  const { runId } = await startTurn(client, thread, toolTurn('never'));
  expect(await waitSettled(follower.events, runId)).toEqual(INTERRUPTED);
  const call = itemOfEvent(await waitEvent(follower.events, runId, 'item.started'));
  expect(await inspect(call?.id ?? '')).toEqual({ state: 'never_seen' });
  expect(await readEffects()).toEqual([]);
  expect(model.requests).toHaveLength(asked + 1);
});

it('kills the agent while a tool call runs: it ran once, its receipt is there, the run is interrupted', async () => {
  const { rookery, follower, model } = house;
  const asked = model.requests.length;
  const { runId } = await startTurn(client, await createThread(client), toolTurn('once'));
  const calls = (): Item[] =>
    follower.events.flatMap((event) => {
      const item = event.runId === runId && event.type === 'item.started' ? itemOfEvent(event) : undefined;
      return item?.kind === 'tool_call' ? [item] : [];
    });
  const inFlight = await eventually('the second tool call', () => calls()[1]);
  // Its intent is on record before the runner hears of it.
  await eventually('the runner to work on it', async () => (await inspect(inFlight.id)).state === 'running');
  await rookery.killAndWait('agent');
  expect(await waitSettled(follower.events, runId)).toEqual(INTERRUPTED);
  const [start] = calls();
  expect(await inspect(start?.id ?? '')).toMatchObject({ state: 'done', result: { ok: true } });
  await eventually('the receipt of the call in flight', async () => (await inspect(inFlight.id)).state === 'done');
  expect(await readEffects()).toEqual(['once']);
  expect(model.requests).toHaveLength(asked + 2);
});
