import { connectBus } from '@rookery/bus';
import { openJournal } from '@rookery/journal';
import { commitId, formatSubject, type Thread } from '@rookery/protocol';
import { eventually, type RpcClient } from '@rookery/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GatewayHouse, startGatewayHouse } from './gateway-house.ts';

let house: GatewayHouse;

beforeAll(async () => {
  house = await startGatewayHouse({ sendTimeoutMs: 1500 });
});
afterAll(() => house.stop());

const AT = '2026-01-01T00:00:00.000Z';
const EVENTS = 400;
const MOST = 40_000;

async function figure(name: string): Promise<number> {
  const { text } = await house.http('/metrics', { headers: { authorization: `Bearer ${await house.token()}` } });
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
}

test('a client that reads nothing is closed as too slow with a bounded queue, and the others miss nothing', async () => {
  const bus = await connectBus({ url: house.nats.url, user: 'agent', seed: house.nats.seed('agent'), name: 'writer' });
  const journal = openJournal(bus);
  const subject = formatSubject({ kind: 'turns', world: 'home', threadId: 'thread_1' });
  let written = 0;
  let expected = 0;
  const append = async (events: { type: string; payload: Record<string, unknown> }[]) => {
    written += 1;
    const id = commitId(subject, `c${written}`, 0);
    const commit = {
      v: 1,
      id,
      cause: `c${written}`,
      at: AT,
      by: 'test',
      agentId: 'main',
      branchId: 'branch_1',
      events,
    };
    const result = await journal.append({ subject, expected, commit });
    if (result.outcome === 'committed') expected = result.streamSeq;
  };
  const thread: Thread = {
    id: 'thread_1',
    title: null,
    defaultBranchId: 'branch_1',
    workspace: null,
    createdAt: AT,
    updatedAt: AT,
    archivedAt: null,
  };
  const branch = { id: 'branch_1', threadId: 'thread_1', createdAt: AT, isDefault: true as const };
  await append([{ type: 'thread.created', payload: { thread, branch } }]);

  const good: RpcClient = await house.client();
  const slow: RpcClient = await house.client();
  slow.socket.pause();
  let deepest = 0;
  let renames = 0;
  const rename = () => {
    renames += 1;
    return { type: 'thread.renamed', payload: { thread: { ...thread, title: `${renames} ${'x'.repeat(180)}` } } };
  };
  // As many as the network's own buffers take, and then more than the queue may hold.
  while ((await figure('rookery_gateway_slow_consumers_total')) === 0 && renames < MOST) {
    await append(Array.from({ length: EVENTS }, rename));
    deepest = Math.max(deepest, await figure('rookery_gateway_queue_depth'));
  }
  slow.socket.resume();
  expect(await slow.closed).toEqual({ code: 1013, reason: 'event consumer too slow' });
  expect(deepest).toBeLessThanOrEqual(1024);
  await append([rename()]);

  const renamed = () => good.events.filter((event) => event.type === 'thread.renamed');
  await eventually('all events', () => renamed().length === renames, { timeoutMs: 20_000 });
  for (const [index, event] of good.events.entries()) {
    if (index > 0) expect(event.prevSeq).toBe(good.events[index - 1]?.seq);
  }
  // It resumes where it was, from any seq.
  const last = slow.events.at(-1)?.seq ?? 0;
  const page = await good.request<{ events: { prevSeq: number }[]; hasMore: boolean }>('event.replay', {
    afterSeq: last,
    limit: 10,
  });
  expect(page.events[0]?.prevSeq).toBe(last);
  expect(await figure('rookery_gateway_connections')).toBe(1);
  await bus.close();
});
