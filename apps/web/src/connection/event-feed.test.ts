import { describe, expect, it } from 'vitest';
import type { WireEvent } from '../wire/types.ts';
import { EventFeed } from './event-feed.ts';

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

function feedOver(known: readonly WireEvent[], limit = 500) {
  const applied: number[] = [];
  let restarts = 0;
  const feed = new EventFeed({
    replay: async (afterSeq) => {
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

  it('asks for the lists again instead of replaying for ever', async () => {
    const { feed, restarts } = feedOver(stream, 10);
    await feed.begin(0);
    await feed.resume();
    expect(restarts()).toBe(1);
  });
});
