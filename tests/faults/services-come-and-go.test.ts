import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  answerOf,
  createThread,
  eventually,
  type FaultHouse,
  itemOfEvent,
  type RpcClient,
  readStream,
  sleep,
  startFaultHouse,
  startTurn,
  waitEvent,
  waitSettled,
} from '@rookery/testkit';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';

const INTERRUPTED = { status: 'failed', reasonCode: 'runtime_interrupted' };
const COMPLETED = { status: 'completed', reasonCode: null };
/** How long nats-server is away. */
const AWAY_MS = 5000;

let house: FaultHouse;
let client: RpcClient;
let effects: string[] = [];

beforeAll(async () => {
  house = await startFaultHouse({
    faults: true,
    services: ['gateway', 'agent', 'tool-runner'],
    slots: { agent: 2 },
    timings: { drainMs: 2000 },
  });
  client = await house.rookery.client();
});
afterAll(() => house?.stop());
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') process.stderr.write(`${await house.rookery.logs()}\n`);
  else await house.check({ effects });
});

const script = (directive: object) => `go #script ${JSON.stringify(directive)}`;

/** Claims by run, with the instance that made each. */
async function holders(): Promise<Map<string, string>> {
  const out = new Map<string, string>();
  for (const { subject, text } of await readStream(house.rookery.nats, 'JOURNAL')) {
    if (!text.includes('"run.claimed"')) continue;
    out.set(subject.split('.').at(-1) ?? '', JSON.parse(text).events[0].payload.holder);
  }
  return out;
}
const slotOf = (holder: string | undefined) => /-(\d+)-[^-]*$/.exec(holder ?? '')?.[1];

it('kills the tool-runner after an effect and before its receipt: told as unknown, and never done again', async () => {
  const { rookery, follower, model } = house;
  const cwd = join(rookery.home, 'project');
  await mkdir(cwd);
  await writeFile(join(cwd, 'list'), 'end\n');
  const thread = await createThread(client, { cwd });
  await rookery.withFault('tool-runner', 'tool:after-effect');
  const { starts } = rookery.service('tool-runner');
  const asked = model.requests.length;
  // Done twice, this would add its line twice.
  const edit = { name: 'edit', arguments: { filePath: 'list', oldString: 'end', newString: 'edited\nend' } };
  const { runId } = await startTurn(client, thread, script({ tools: [edit], text: 'seen' }));
  expect(await waitSettled(follower.events, runId)).toEqual(COMPLETED);
  expect(rookery.service('tool-runner').starts).toBe(starts + 1);
  const result = await waitEvent(
    follower.events,
    runId,
    'item.completed',
    (event) => itemOfEvent(event)?.kind === 'tool_result',
  );
  expect(JSON.parse(String(itemOfEvent(result)?.content))).toMatchObject({ ok: false, errorCode: 'effect_unknown' });
  effects = (await readFile(join(cwd, 'list'), 'utf8')).trim().split('\n');
  expect(effects).toEqual(['edited', 'end']);
  expect(model.requests).toHaveLength(asked + 2);
});

it('stops one of two agents during work: it drains and interrupts its runs and leaves queued ones to the other', async () => {
  const { rookery, follower } = house;
  const [leaving, staying] = [rookery.service('agent', 0), rookery.service('agent', 1)];
  await staying.down('SIGTERM');
  const go = join(rookery.home, 'go');
  // Ends while its agent drains; the other one goes on for longer than that.
  const wait = { name: 'process_start', arguments: { command: `while [ ! -e ${go} ]; do sleep 0.05; done` } };
  const end = { name: 'process_wait', arguments: { processId: '$result', timeoutMs: 60_000 } };
  const text = Array.from({ length: 60 }, (_, n) => `piece ${n}. `).join('');
  const threads = [await createThread(client), await createThread(client)] as const;
  const long = await startTurn(client, threads[0], script({ text, deltas: 60, delayMs: 500 }));
  const short = await startTurn(client, threads[1], script({ rounds: [[wait], [end]], text: 'in time' }));
  await waitEvent(follower.events, long.runId, 'item.delta');
  await waitEvent(
    follower.events,
    short.runId,
    'item.started',
    (event) => itemOfEvent(event)?.data.toolName === end.name,
  );
  const queued = await Promise.all(threads.map((thread) => startTurn(client, thread, script({ text: 'next' }))));
  const before = await holders();
  const first = before.get(long.runId);
  expect(slotOf(first)).toBe('0');
  const stopped = leaving.down('SIGTERM');
  await writeFile(go, '');
  await stopped;
  expect(leaving.lastExit).toEqual({ code: 0, signal: null });
  await staying.up();
  expect(await waitSettled(follower.events, short.runId)).toEqual(COMPLETED);
  expect(await waitSettled(follower.events, long.runId)).toEqual(INTERRUPTED);
  const kept = answerOf(follower.events, long.runId);
  expect(kept.length).toBeGreaterThan(0);
  expect(text.startsWith(kept)).toBe(true);
  for (const { runId } of queued) expect(await waitSettled(follower.events, runId)).toEqual(COMPLETED);
  const after = await holders();
  expect(queued.map(({ runId }) => slotOf(after.get(runId)))).toEqual(['1', '1']);
  const ofFirst = (claims: Map<string, string>) => [...claims.values()].filter((holder) => holder === first).length;
  expect(ofFirst(after)).toBe(ofFirst(before));
  await leaving.up();
});

it('is without nats-server at the start and in the middle: it waits, starts nothing anew and fails no run', async () => {
  const { rookery, follower, model } = house;
  const services = [...rookery.services.map((name) => rookery.service(name)), rookery.service('agent', 1)];
  const ready = async () => (await fetch(`${rookery.url}/readyz`)).status;
  await Promise.all(services.map((service) => service.down('SIGTERM')));
  await rookery.nats.kill();
  const starts = () => services.map((service) => service.starts);
  const earlier = starts();
  const up = Promise.all(services.map((service) => service.up()));
  up.catch(() => {});
  await eventually('the gateway to answer', async () => (await ready()) === 503, { timeoutMs: 60_000 });
  await sleep(AWAY_MS);
  const once = earlier.map((count) => count + 1);
  expect(starts()).toEqual(once);
  expect(services.map((service) => service.running)).toEqual(services.map(() => true));
  expect(await ready()).toBe(503);
  await rookery.nats.restart();
  await up;
  await eventually('the gateway to be ready', async () => (await ready()) === 200);

  client = await rookery.client();
  const asked = model.requests.length;
  const text = 'streamed while nobody could store it. '.repeat(10);
  const thread = await createThread(client);
  const { runId } = await startTurn(client, thread, script({ text, deltas: 30, delayMs: 60 }));
  await waitEvent(follower.events, runId, 'item.delta');
  await rookery.nats.kill();
  await eventually('the gateway to say so', async () => (await ready()) === 503);
  await sleep(AWAY_MS);
  await rookery.nats.restart();
  expect(await waitSettled(follower.events, runId)).toEqual(COMPLETED);
  expect(answerOf(follower.events, runId)).toBe(text);
  expect(model.requests).toHaveLength(asked + 1);
  expect(starts()).toEqual(once);
  await eventually('the gateway to be ready', async () => (await ready()) === 200);
});
