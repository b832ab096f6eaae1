import { cp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { callCommand, connectBus, provision } from '@rookery/bus';
import { commandSubject, formatSubject } from '@rookery/protocol';
import {
  commitHeaders,
  commitOf,
  connectAs,
  createThread,
  eventually,
  type FaultHouse,
  type RpcError,
  readStream,
  serviceNames,
  sleep,
  startFaultHouse,
  startTurn,
  type TestThread,
  waitSettled,
} from '@rookery/testkit';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';

const COMPLETED = { status: 'completed', reasonCode: null };
/** Longer than a sweep, a canary and a lease take at test values. */
const A_WHILE_MS = 1000;
const WAYS_BACK = { waysBack: expect.arrayContaining([expect.stringContaining('restore')]) };

let house: FaultHouse;
beforeAll(async () => {
  house = await startFaultHouse({ services: ['gateway', 'agent', 'tool-runner'] });
});
afterAll(() => house?.stop());
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') process.stderr.write(`${await house.rookery.logs()}\n`);
  else await house.check();
});

const store = () => join(house.rookery.nats.home, 'nats/store');
const copy = () => join(house.rookery.nats.home, 'right-store');
const services = () =>
  serviceNames.filter((name) => house.rookery.services.includes(name)).map((name) => house.rookery.service(name));

/** A turn that is answered: the house works. */
async function turn(thread?: TestThread): Promise<TestThread> {
  const client = await house.rookery.client();
  try {
    const own = thread ?? (await createThread(client));
    const { runId } = await startTurn(client, own, 'hello #script {"text":"hello there"}');
    expect(await waitSettled(house.follower.events, runId)).toEqual(COMPLETED);
    return own;
  } finally {
    await client.close();
  }
}

/** Kills nats-server, keeps its store as the backup that is put back in the end, and starts it on a changed one. */
async function withStore(change: () => Promise<void>): Promise<void> {
  await house.rookery.nats.kill();
  await rm(copy(), { recursive: true, force: true });
  await cp(store(), copy(), { recursive: true });
  await change();
  await house.rookery.nats.restart();
}

/** What a person does: stops everything, puts the right store back, starts. */
async function restore(): Promise<void> {
  await Promise.all(services().map((service) => service.down()));
  await house.rookery.nats.kill();
  await rm(store(), { recursive: true });
  await cp(copy(), store(), { recursive: true });
  await house.rookery.nats.restart();
  await Promise.all(services().map((service) => service.up()));
}

/** The file that holds the messages of JOURNAL. */
async function blockFile(): Promise<string> {
  const files = await readdir(store(), { recursive: true });
  const found = files.find((file) => /streams\/JOURNAL\/msgs\/\d+\.blk$/.test(file));
  if (found === undefined) throw new Error('JOURNAL has no block');
  return join(store(), found);
}

async function flipByte(): Promise<void> {
  const file = await blockFile();
  const data = await readFile(file);
  const at = Math.floor(data.length / 2);
  data[at] = (data[at] ?? 0) ^ 0xff;
  await writeFile(file, data);
}

async function cutInHalf(): Promise<void> {
  const file = await blockFile();
  await truncate(file, Math.floor((await stat(file)).size / 2));
}

const lastSeq = async () => (await readStream(house.rookery.nats, 'JOURNAL')).at(-1)?.streamSeq ?? 0;

/** Asks the agent, past the gateway. */
async function askAgent(method: string, params: object): Promise<unknown> {
  const { url, seed } = house.rookery.nats;
  const bus = await connectBus({ url, user: 'gateway', seed: seed('gateway'), name: 'test' });
  const request = { method, params, commandId: 'test', agentId: 'main', world: 'home' };
  try {
    return await callCommand(bus, commandSubject('agent', method), request, { timeoutMs: 10_000 });
  } finally {
    await bus.close();
  }
}

/** What the gateway answers over HTTP. */
async function askGateway(): Promise<{ status: number; code: string }> {
  const { url, token } = house.rookery;
  const answer = await fetch(`${url}/rpc/v1`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'thread.list', params: {} }),
  });
  const body = (await answer.json()) as { error?: { code?: string; data?: { code?: string } } };
  return { status: answer.status, code: String(body.error?.data?.code ?? body.error?.code ?? '') };
}

/** Both services that follow the journal refuse with a code, and for a while nothing is appended. */
async function refuses(code: string, details: object): Promise<void> {
  const before = await lastSeq();
  await eventually('the gateway to refuse', async () => (await askGateway()).code === code);
  expect(await askGateway()).toEqual({ status: 503, code });
  expect((await fetch(`${house.rookery.url}/readyz`)).status).toBe(503);
  const agentSays = (method: string, params: object) =>
    askAgent(method, params).catch((error: { code?: string; details?: object }) => error);
  // It notices by itself; until then it is asked for nothing that it could store.
  const nowhere = { threadId: 'thread_nowhere', title: 'never' };
  await eventually('the agent to refuse', async () => {
    const answer = (await agentSays('thread.rename', nowhere)) as { code?: string };
    return answer.code === code;
  });
  expect(await agentSays('thread.create', {})).toMatchObject({ code, details });
  await sleep(A_WHILE_MS);
  expect(await lastSeq()).toBe(before);
}

it('goes on without the thread that a poison commit stands in, and says where it is', async () => {
  const { rookery } = house;
  const damaged = await turn();
  const sound = await turn();
  const subject = formatSubject({ kind: 'turns', world: 'home', threadId: damaged.threadId });
  const messages = await readStream(rookery.nats, 'JOURNAL');
  const head = messages.findLast((message) => message.subject === subject)?.streamSeq ?? 0;
  const poison = { ...commitOf(subject, 'poison', { at: new Date().toISOString() }), unknown: 'member' };
  const writer = await connectAs(rookery.nats, 'agent');
  const reply = await writer.request(subject, JSON.stringify(poison), {
    timeout: 5000,
    headers: commitHeaders(poison.id, head),
  });
  const seq = reply.json<{ seq: number }>().seq;
  await writer.close();

  const client = await rookery.client();
  const refused = (method: string, params: object) =>
    client.request(method, params).then(
      () => 'accepted',
      (error: RpcError) => ({ code: error.code, details: error.data.details }),
    );
  const { threadId, branchId } = damaged;
  const model = { providerId: 'test', modelId: 'test-model' };
  const thread = { code: 'THREAD_DAMAGED', details: expect.objectContaining({ seq }) };
  expect(await refused('thread.rename', { threadId, title: 'never' })).toEqual(thread);
  expect(await refused('turn.start', { threadId, branchId, content: 'never', ...model })).toEqual(thread);
  expect(await client.request('system.status')).toMatchObject({ readModel: { quarantined: 1 } });
  await client.close();
  await turn(sound);
});

it('finds a flipped byte in the store under living services: nothing is applied or appended, until the store is put back', async () => {
  const thread = await turn();
  await withStore(flipByte);
  await refuses('JOURNAL_REGRESSED', WAYS_BACK);
  await restore();
  await turn(thread);
});

it('finds a shortened store at the start, and starts nothing on it', async () => {
  const thread = await turn();
  await Promise.all(services().map((service) => service.down()));
  await withStore(cutInHalf);
  const before = await lastSeq();
  await expect(house.rookery.service('agent').up()).rejects.toThrow(/before it was ready/);
  // The gateway stays up to say what is wrong.
  await house.rookery.service('gateway').up();
  expect(await askGateway()).toEqual({ status: 503, code: 'JOURNAL_REGRESSED' });
  for (const name of ['agent', 'gateway']) {
    const log = await readFile(join(house.rookery.home, 'logs', `${name}.log`), 'utf8');
    expect(log.split('\n').findLast((line) => line.includes('JOURNAL_REGRESSED'))).toContain('waysBack');
  }
  await sleep(A_WHILE_MS);
  expect(await lastSeq()).toBe(before);
  await restore();
  await turn(thread);
});

it('takes a stream that was deleted and made again for another journal, whatever is in it', async () => {
  const thread = await turn();
  await withStore(async () => {});
  const { url, seed } = house.rookery.nats;
  const bus = await connectBus({ url, user: 'provision', seed: seed('provision'), name: 'test' });
  await bus.jsm.streams.delete('JOURNAL');
  await provision(bus);
  await bus.close();
  await refuses('JOURNAL_REGRESSED', {});
  await restore();
  await turn(thread);
});

it('stops at a commit of a newer version, and goes on once it is not there', async () => {
  const thread = await turn();
  await withStore(async () => {});
  const subject = formatSubject({ kind: 'canary' });
  const newer = { ...commitOf(subject, 'newer'), v: 99 };
  const writer = await connectAs(house.rookery.nats, 'agent');
  // The agent writes there too, once its server was away.
  await eventually('the newer commit to be stored', async () => {
    const messages = await readStream(house.rookery.nats, 'JOURNAL');
    const head = messages.findLast((message) => message.subject === subject)?.streamSeq ?? 0;
    const headers = commitHeaders(newer.id, head);
    const reply = await writer.request(subject, JSON.stringify(newer), { timeout: 5000, headers });
    return reply.json<{ error?: unknown }>().error === undefined;
  });
  await writer.close();
  await refuses('READMODEL_TOO_OLD', {});
  await restore();
  await turn(thread);
});
