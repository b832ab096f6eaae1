import { afterEach, describe, expect, it, vi } from 'vitest';
import type { WireEvent } from '../wire/types.ts';
import { EventFeed } from './event-feed.ts';
import { rpcErrorOf } from './rpc-error.ts';

const stream = Array.from(
  { length: 1200 },
  (_, index): WireEvent => ({
    seq: (index + 1) * 1024,
    prevSeq: index * 1024,
    schemaVersion: 11,
    type: 'item.delta',
    threadId: 'thread_1',
    branchId: null,
    turnId: null,
    runId: null,
    itemId: null,
    timestamp: '2026-11-30T12:00:00.000Z',
    payload: {},
  }),
);

/** `failures` are what the first replays answer. */
function feedOver(known: readonly WireEvent[], limit = 500, failures: string[] = []) {
  const applied: number[] = [];
  let restarts = 0;
  const feed = new EventFeed({
    replay: async (afterSeq) => {
      const code = failures.shift();
      if (code !== undefined) throw rpcErrorOf({ code: -32030, message: code, data: { code } });
      const rest = known.filter((event) => event.seq > afterSeq);
      const events = rest.slice(0, limit);
      const nextAfterSeq = events.at(-1)?.seq ?? afterSeq;
      return { events, nextAfterSeq, latestSeq: known.at(-1)?.seq ?? 0, hasMore: rest.length > limit };
    },
    apply: (events) => applied.push(...events.map((event) => event.seq)),
    restart: () => {
      restarts += 1;
    },
  });
  return { feed, applied, restarts: () => restarts };
}

const settled = () => new Promise((resolve) => setTimeout(resolve));
const seqs = (from: number, to: number) => stream.slice(from, to).map((event) => event.seq);

afterEach(() => vi.useRealTimers());

describe('EventFeed', () => {
  it('holds live events until the lists stand, and drops what the lists have', async () => {
    const { feed, applied } = feedOver(stream);
    for (const event of stream.slice(5, 9)) feed.push(event);
    expect(applied).toEqual([]);
    await feed.begin(stream[6]?.seq ?? 0);
    expect(applied).toEqual(seqs(7, 9));
  });

  it('replays a gap before it crosses it, and applies nothing twice', async () => {
    const { feed, applied } = feedOver(stream.slice(0, 20));
    await feed.begin(1024);
    for (const index of [1, 2, 7, 8, 3, 9]) {
      const event = stream[index];
      if (event) feed.push(event);
    }
    await settled();
    expect(applied).toEqual(seqs(1, 20));
  });

  it('resumes page by page before any event of the new connection', async () => {
    const { feed, applied } = feedOver(stream);
    await feed.begin(10 * 1024);
    const resumed = feed.resume();
    for (const event of stream.slice(1190)) feed.push(event);
    await resumed;
    expect(applied).toEqual(seqs(10, 1200));
  });

  it('asks again for a gap whose replay was refused for now, also where no other event comes', async () => {
    vi.useFakeTimers();
    const { feed, applied } = feedOver(stream.slice(0, 9), 500, ['JOURNAL_UNAVAILABLE', 'SERVICE_UNAVAILABLE']);
    await feed.begin(1024);
    const last = stream[8];
    if (last) feed.push(last);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(applied).toEqual(seqs(1, 9));
  });

  it('asks for the lists where the server says that too much was missed', async () => {
    const { feed, applied, restarts } = feedOver(stream, 500, ['REPLAY_TOO_FAR']);
    await feed.begin(0);
    await feed.resume();
    expect([restarts(), applied]).toEqual([1, []]);
  });

  it('asks for the lists again instead of replaying for ever', async () => {
    const { feed, restarts } = feedOver(stream, 10);
    await feed.begin(0);
    await feed.resume();
    expect(restarts()).toBe(1);
  });
});
