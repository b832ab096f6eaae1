import type { WireEvent } from '@rookery/protocol';
import { eventually, type RpcClient } from '@rookery/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type GatewayHouse,
  MODEL,
  newThread,
  PROVIDER,
  startGatewayHouse,
  type TestThread,
  useModel,
} from './gateway-house.ts';

let house: GatewayHouse;
let client: RpcClient;

beforeAll(async () => {
  house = await startGatewayHouse();
  await house.start('tool');
  await house.start('agent');
  client = await house.client();
  await useModel(house, client);
});
afterAll(() => house.stop());

const script = (directive: object) => `#script ${JSON.stringify(directive)}`;

const startTurn = (from: RpcClient, thread: TestThread, content: string, clientRequestId?: string) =>
  from.request<{ turnId: string; runId: string }>('turn.start', {
    ...thread,
    content,
    providerId: PROVIDER,
    modelId: MODEL,
    ...(clientRequestId === undefined ? {} : { clientRequestId }),
  });

const settled = (from: RpcClient, runId: string): Promise<WireEvent> =>
  eventually(`the end of ${runId}`, () =>
    from.events.find((event) => event.type === 'run.settled' && event.runId === runId),
  );

interface Page {
  events: WireEvent[];
  latestSeq: number;
  nextAfterSeq: number;
  hasMore: boolean;
}

async function replayAll(from: RpcClient, params: object, limit: number): Promise<WireEvent[]> {
  const events: WireEvent[] = [];
  for (let afterSeq = 0; ; ) {
    const page = await from.request<Page>('event.replay', { ...params, afterSeq, limit });
    events.push(...page.events);
    afterSeq = page.nextAfterSeq;
    if (!page.hasMore) return events;
  }
}

test('a turn is seen live, and the same events are replayed from 0 in pages of any size', async () => {
  const thread = await newThread(client, { title: 'First' });
  const { runId } = await startTurn(client, thread, script({ text: 'Hello there', deltas: 3 }));
  await settled(client, runId);
  const live = client.events.filter((event) => event.runId === runId);
  expect(live.map((event) => event.type)).toContain('item.delta');
  const all = await replayAll(client, {}, 1000);
  expect(await replayAll(client, {}, 3)).toEqual(all);
  const seen = all.filter((event) => client.events.some((other) => other.seq === event.seq));
  expect(client.events).toEqual(seen);
  for (const [index, event] of all.entries()) expect(event.prevSeq).toBe(all[index - 1]?.seq ?? 0);
});

test('turn.list gives turns with runs and items, and stands at the seq of the last event in it', async () => {
  const thread = await newThread(client);
  const { runId } = await startTurn(client, thread, script({ text: 'done' }));
  const last = await settled(client, runId);
  const page = await client.request<{ turns: { runs: { items: { content: string }[] }[] }[]; snapshotSeq: number }>(
    'turn.list',
    thread,
  );
  expect(page.turns[0]?.runs[0]?.items.map((item) => item.content).at(-1)).toBe('done');
  expect(page.snapshotSeq).toBe(last.seq);
});

test('a query right after a command sees it', async () => {
  for (let round = 0; round < 20; round += 1) {
    const { threadId } = await newThread(client, { title: `Round ${round}` });
    const { thread } = await client.request<{ thread: { title: string } }>('thread.get', { threadId });
    expect(thread.title).toBe(`Round ${round}`);
    await client.request('thread.rename', { threadId, title: 'New' });
    expect(await client.request('thread.get', { threadId })).toMatchObject({ thread: { title: 'New' } });
  }
});

test('the answer to a command comes before the first event that it causes', async () => {
  const other = await house.client();
  const frames: { id?: number; params?: { threadId: string }; result?: { thread: { id: string } } }[] = [];
  other.socket.on('message', (data) => frames.push(JSON.parse(data.toString())));
  for (let round = 0; round < 30; round += 1) {
    const { threadId } = await newThread(other);
    const event = () => frames.findIndex((frame) => frame.params?.threadId === threadId);
    await eventually('its event', () => event() !== -1);
    const answer = frames.findIndex((frame) => frame.result?.thread.id === threadId);
    expect(answer).toBeLessThan(event());
  }
  await other.close();
});

test('protocol 12 has the exact shapes: ten keys, no journalId, no filter, no newer methods', async () => {
  const old = await house.client({ protocolVersion: 12 });
  expect(Object.keys(old.server).sort()).toEqual(['protocolVersion', 'server']);
  const { threadId } = await newThread(old);
  const event = await eventually('the event', () => old.events.find((one) => one.threadId === threadId));
  expect(Object.keys(event)).toEqual([
    'seq',
    'schemaVersion',
    'type',
    'threadId',
    'branchId',
    'turnId',
    'runId',
    'itemId',
    'timestamp',
    'payload',
  ]);
  expect(event.schemaVersion).toBe(11);
  const page = await old.request<Page>('event.replay', { afterSeq: event.seq - 1 });
  expect(page.events).toEqual([event]);
  await expect(old.request('event.replay', { filter: null })).rejects.toMatchObject({ rpcCode: -32602 });
  await expect(old.request('event.subscribe', { filter: null })).rejects.toMatchObject({ rpcCode: -32601 });
  await expect(old.request('system.status')).rejects.toMatchObject({ rpcCode: -32601 });
  await old.close();
});

test('a text that is too long for the journal is whole everywhere that clients look', async () => {
  const thread = await newThread(client);
  const content = `${script({ text: 'read it' })}\n${'long '.repeat(30_000)}`;
  const { runId } = await startTurn(client, thread, content);
  await settled(client, runId);
  const contentOf = (event: WireEvent) => (event.payload.item as { content: string } | undefined)?.content;
  const live = client.events.find((event) => event.runId === runId && event.type === 'item.completed');
  expect(live && contentOf(live)).toBe(content);
  const [replayed] = (
    await replayAll(client, { filter: { threadIds: [thread.threadId], types: ['item.completed'] } }, 1)
  ).slice(0, 1);
  expect(replayed && contentOf(replayed)).toBe(content);
  const page = await client.request<{ turns: { runs: { items: { content: string }[] }[] }[] }>('turn.list', thread);
  expect(page.turns[0]?.runs[0]?.items[0]?.content).toBe(content);
});

test('a filter has its own chain of prevSeq, live and in replay', async () => {
  const filtered = await house.client();
  const mine = await newThread(filtered, { title: 'Mine' });
  // The answer can come before the event: until then it would be the first one of the new chain.
  await eventually('the creation', () => filtered.events.some((event) => event.threadId === mine.threadId));
  const { latestSeq } = await filtered.request<{ latestSeq: number }>('event.subscribe', {
    filter: { threadIds: [mine.threadId] },
  });
  const other = await newThread(client);
  const from = filtered.events.length;
  await filtered.request('thread.rename', { threadId: mine.threadId, title: 'One' });
  await client.request('thread.rename', { threadId: other.threadId, title: 'Elsewhere' });
  await filtered.request('thread.rename', { threadId: mine.threadId, title: 'Two' });
  const events = await eventually('two events', () => {
    const renamed = filtered.events.slice(from).filter((event) => event.type === 'thread.renamed');
    return renamed.length === 2 && renamed;
  });
  expect(events.map((event) => event.threadId)).toEqual([mine.threadId, mine.threadId]);
  expect(events[0]?.prevSeq).toBe(latestSeq);
  expect(events[1]?.prevSeq).toBe(events[0]?.seq);
  const replayed = await replayAll(filtered, { filter: { threadIds: [mine.threadId] } }, 1);
  expect(replayed.map((event) => event.type)).toEqual(['thread.created', 'thread.renamed', 'thread.renamed']);
  expect(replayed.map((event) => event.prevSeq)).toEqual([0, replayed[0]?.seq, replayed[1]?.seq]);
  await filtered.close();
});

test('lists page by a cursor that fits only its own list', async () => {
  const other = await house.client();
  for (let round = 0; round < 5; round += 1) await newThread(other);
  const first = await other.request<{ threads: { id: string }[]; nextCursor: string; hasMore: boolean }>(
    'thread.list',
    { limit: 2 },
  );
  expect(first.hasMore).toBe(true);
  const second = await other.request<typeof first>('thread.list', { limit: 2, cursor: first.nextCursor });
  const ids = [...first.threads, ...second.threads].map((thread) => thread.id);
  expect(new Set(ids).size).toBe(4);
  const refused = { rpcCode: -32602, data: { code: 'INVALID_CURSOR', reasonCode: 'invalid_cursor' } };
  await expect(other.request('thread.list', { archived: true, cursor: first.nextCursor })).rejects.toMatchObject(
    refused,
  );
  await expect(other.request('thread.list', { cursor: `x${first.nextCursor}` })).rejects.toMatchObject(refused);
  await other.close();
});

test('what another gateway restarts with is the same: events, prevSeq and lists', async () => {
  const all = await replayAll(client, {}, 1000);
  const second = await house.startGateway(1);
  const late = await house.client({ url: `http://127.0.0.1:${second.address.port}` });
  expect(await replayAll(late, {}, 500)).toEqual(all);
  expect(late.server.journalId).toBe(client.server.journalId);
  const { threadId } = await newThread(late);
  const here = await eventually('it there', () => client.events.find((event) => event.threadId === threadId));
  const there = await eventually('it here', () => late.events.find((event) => event.threadId === threadId));
  expect(there).toEqual(here);
  await late.close();
  await second.stop();
});
