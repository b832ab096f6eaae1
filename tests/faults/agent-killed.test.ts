import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { callCommand, connectBus } from '@rookery/bus';
import { commandSubject, type ToolCallState } from '@rookery/protocol';
import {
  answerOf,
  createThread,
  eventually,
  type FaultRow,
  faultRow,
  itemOfEvent,
  startTurn,
  submissionFact,
  type TestTurn,
  waitEvent,
  waitSettled,
} from '@rookery/testkit';
import { expect, it } from 'vitest';

/** Starts a turn as a client does that gives up only after the gateway's own time, and asks again with the same id. */
async function persistentTurn({ rookery, history }: FaultRow, content: string): Promise<TestTurn> {
  const client = await rookery.client();
  const thread = await createThread(client);
  const fact = submissionFact('turn-1');
  const started = await eventually(
    'the turn to be accepted',
    () => history.attempt('turn.start', fact, () => startTurn(client, thread, content, 'turn-1')),
    { timeoutMs: 20_000, everyMs: 100 },
  );
  // Whoever asks once more gets the first result.
  expect(await startTurn(client, thread, content, 'turn-1')).toEqual(started);
  await client.close();
  return started;
}

it.each([
  ['before the append: the repeated request is stored once', 'agent:before-append@2'],
  ['after the append and before the reply: the repeated request meets its first result', 'agent:after-append@2'],
])('kills the agent %s', async (_title, fault) => {
  await faultRow({ faults: { agent: fault } }, async (row) => {
    const { runId } = await persistentTurn(row, 'hello #script {"text":"hello there"}');
    expect(row.rookery.service('agent').starts).toBe(2);
    expect(await waitSettled(row.follower.events, runId)).toEqual({ status: 'completed', reasonCode: null });
    expect(answerOf(row.follower.events, runId)).toBe('hello there');
    expect(row.model.requests).toHaveLength(1);
  });
});

it('kills the agent while the model streams: interrupted with the text so far, and no further model call', async () => {
  await faultRow({}, async ({ rookery, model, follower }) => {
    const client = await rookery.client();
    const thread = await createThread(client);
    const text = Array.from({ length: 20 }, (_, n) => `piece ${n}. `).join('');
    const { runId } = await startTurn(
      client,
      thread,
      `go #script ${JSON.stringify({ text, deltas: 20, delayMs: 100 })}`,
    );
    const seen = () => follower.events.filter((event) => event.runId === runId && event.type === 'item.delta').length;
    await eventually('some deltas', () => seen() >= 4);
    await rookery.killAndWait('agent');
    expect(await waitSettled(follower.events, runId)).toEqual({ status: 'failed', reasonCode: 'runtime_interrupted' });
    const kept = answerOf(follower.events, runId);
    expect(kept.length).toBeGreaterThan(20);
    expect(text.startsWith(kept)).toBe(true);
    expect(kept.length).toBeLessThan(text.length);
    expect(model.requests).toHaveLength(1);

    const next = await startTurn(client, thread, 'and now #script {"text":"on we go"}');
    expect(await waitSettled(follower.events, next.runId)).toEqual({ status: 'completed', reasonCode: null });
    expect(model.requests).toHaveLength(2);
    await client.close();
  });
});

/** What the runner knows of a call, asked as the agent asks. */
async function inspect({ rookery }: FaultRow, itemId: string): Promise<ToolCallState> {
  const { url, seed } = rookery.nats;
  const bus = await connectBus({ url, user: 'agent', seed: seed('agent'), name: 'inspect' });
  try {
    const request = {
      method: 'inspect',
      params: { itemId, waitMs: 500 },
      commandId: itemId,
      agentId: 'main',
      world: 'home',
    };
    return (
      await callCommand<ToolCallState>(bus, commandSubject('tool', 'inspect', 'main'), request, { timeoutMs: 3000 })
    ).result;
  } finally {
    await bus.close();
  }
}

const effectsOf = async (path: string): Promise<string[]> =>
  (await readFile(path, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');

function toolTurn(effects: string): string {
  const start = { name: 'process_start', arguments: { command: `echo effect >> ${effects}; sleep 1` } };
  const wait = { name: 'process_wait', arguments: { processId: '$result', timeoutMs: 5000 } };
  return `work #script ${JSON.stringify({ rounds: [[start], [wait]], text: 'done' })}`;
}

it('kills the agent between the intent of a tool call and its invocation: the tool does not run', async () => {
  await faultRow({ faults: { agent: 'agent:before-invoke' } }, async (row) => {
    const { rookery, follower, told, model } = row;
    const client = await rookery.client();
    const effects = join(rookery.home, 'effects');
    const { runId } = await startTurn(client, await createThread(client), toolTurn(effects));
    expect(await waitSettled(follower.events, runId)).toEqual({ status: 'failed', reasonCode: 'runtime_interrupted' });
    expect(rookery.service('agent').starts).toBe(2);
    const call = itemOfEvent(await waitEvent(follower.events, runId, 'item.started'));
    expect(await inspect(row, call?.id ?? '')).toEqual({ state: 'never_seen' });
    told.effects = await effectsOf(effects);
    expect(told.effects).toEqual([]);
    expect(model.requests).toHaveLength(1);
    await client.close();
  });
});

it('kills the agent while a tool call runs: it ran once, its receipt is there, the run is interrupted', async () => {
  await faultRow({}, async (row) => {
    const { rookery, follower, told, model } = row;
    const client = await rookery.client();
    const effects = join(rookery.home, 'effects');
    const { runId } = await startTurn(client, await createThread(client), toolTurn(effects));
    const calls = () =>
      follower.events.flatMap((event) => {
        const item = event.runId === runId && event.type === 'item.started' ? itemOfEvent(event) : undefined;
        return item?.kind === 'tool_call' ? [item] : [];
      });
    await eventually('the second tool call', () => calls().length === 2);
    await rookery.killAndWait('agent');
    expect(await waitSettled(follower.events, runId)).toEqual({ status: 'failed', reasonCode: 'runtime_interrupted' });
    const [start, wait] = calls();
    expect(await inspect(row, start?.id ?? '')).toMatchObject({ state: 'done', result: { ok: true } });
    await eventually(
      'the receipt of the call in flight',
      async () => (await inspect(row, wait?.id ?? '')).state === 'done',
    );
    told.effects = await effectsOf(effects);
    expect(told.effects).toEqual(['effect']);
    expect(model.requests).toHaveLength(2);
    await client.close();
  });
});
