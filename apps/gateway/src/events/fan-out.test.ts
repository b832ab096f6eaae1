import {
  type CommitEvent,
  type EventFilter,
  formatSubject,
  type StoredCommit,
  threadFilter,
  type WireEvent,
} from '@rookery/protocol';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { CommitSource } from './commit-source.ts';
import { Gate } from './gate.ts';
import { EventHub, type Subscriber } from './hub.ts';
import type { HubEvent } from './hub-event.ts';
import { journalSource } from './journal-source.ts';
import { lastMatchBefore } from './last-match.ts';
import { createReplay } from './replay.ts';

const THREADS = ['t1', 't2', 't3'];
const RUN_TYPES = ['run.state_changed', 'run.claimed', 'item.delta'];

const commitArb = fc.record({
  thread: fc.constantFrom(...THREADS),
  world: fc.constantFrom('home', 'home', 'home', 'other'),
  types: fc.oneof(
    fc.array(fc.constantFrom(...RUN_TYPES), { minLength: 1, maxLength: 4 }),
    fc.constant<string[]>(['thread.renamed']),
  ),
  gap: fc.integer({ min: 1, max: 3 }),
});
const filterArb: fc.Arbitrary<EventFilter | null> = fc.oneof(
  fc.constant<EventFilter | null>(null),
  fc.record({ threadIds: fc.subarray(THREADS, { minLength: 1 }) }) as fc.Arbitrary<EventFilter>,
  fc.record({ types: fc.subarray(['thread.renamed', 'item.delta'], { minLength: 1 }) }) as fc.Arbitrary<EventFilter>,
  fc.constant<EventFilter>({ threadIds: ['t1'], types: ['item.delta'] }),
);

function storedCommits(list: { thread: string; world: string; types: string[]; gap: number }[]): StoredCommit[] {
  let streamSeq = 0;
  return list.map(({ thread, world, types, gap }) => {
    streamSeq += gap;
    const turns = types.includes('thread.renamed');
    const events: CommitEvent[] = types.map((type) => ({ type, payload: { n: streamSeq } }));
    return {
      streamSeq,
      subject: formatSubject(
        turns ? { kind: 'turns', world, threadId: thread } : { kind: 'run', world, threadId: thread, runId: 'r' },
      ),
      commit: {
        v: 1,
        id: `c${streamSeq}`,
        cause: `x${streamSeq}`,
        at: '2026-01-01T00:00:00.000Z',
        by: 'a',
        agentId: 'm',
        events,
      },
    };
  });
}

/** A journal of these commits, read in pages as the real one is. */
function sourceOf(commits: readonly StoredCommit[]): CommitSource {
  const matchesSubject = (subject: string, filter: string) =>
    new RegExp(`^${filter.replaceAll('.', '\\.').replaceAll('*', '[^.]+').replace('>', '.+')}$`).test(subject);
  return {
    world: 'home',
    readPage: async ({ fromSeq, max, filter }) => {
      const found = commits.filter((one) => one.streamSeq >= fromSeq && matchesSubject(one.subject, filter));
      const page = found.slice(0, Math.min(max, 3));
      return { commits: page, nextSeq: (page.at(-1)?.streamSeq ?? fromSeq) + 1, end: page.length === found.length };
    },
    isQuarantined: () => false,
    hasBlobs: (stored) => stored.streamSeq % 5 === 0,
    inline: async (stored) => stored,
  };
}

class Listener implements Subscriber {
  readonly protocol: number;
  events: WireEvent[] = [];

  constructor(protocol: number) {
    this.protocol = protocol;
  }

  deliver(_event: HubEvent, frame: Buffer): void {
    this.events.push(JSON.parse(frame.toString()).params);
  }
}

interface Page {
  events: WireEvent[];
  nextAfterSeq: number;
  hasMore: boolean;
  latestSeq: number;
}

it('replays from any seq, in pages of any size, exactly what was live, with the same prevSeq', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(commitArb, { maxLength: 30 }),
      filterArb,
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 0, max: 40 }),
      async (list, filter, limit, ringEvents, cut) => {
        const commits = storedCommits(list);
        const source = sourceOf(commits);
        const searchBack = (wanted: EventFilter | null, beforeSeq: number) =>
          lastMatchBefore(source, wanted, beforeSeq);
        const hub = new EventHub({ source, searchBack, ringEvents, ringChars: 1e6, onDelay: () => undefined });
        const before = commits.slice(0, cut);
        const streamSeq = before.at(-1)?.streamSeq ?? 0;
        hub.start({ streamSeq, latestSeq: await lastMatchBefore(source, null, (streamSeq + 1) * 1024) });
        const live = new Listener(13);
        const old = new Listener(12);
        const { latestSeq } = await hub.join(live, filter);
        await hub.join(old, filter);
        for (const stored of commits.slice(cut)) hub.ingest({ commits: [stored], appliedSeq: stored.streamSeq });
        await hub.idle();

        const replay = createReplay({ hub, source, gate: new Gate(4, 10) });
        const all: WireEvent[] = [];
        for (let afterSeq = 0, pages = 0; ; pages += 1) {
          expect(pages).toBeLessThan(500);
          const page = JSON.parse((await replay({ afterSeq, limit, filter, linked: true })).text) as Page;
          expect(page.events.length).toBeLessThanOrEqual(limit);
          all.push(...page.events);
          if (page.hasMore) expect(page.nextAfterSeq).toBeGreaterThan(afterSeq);
          afterSeq = page.nextAfterSeq;
          if (!page.hasMore) break;
        }
        expect(all.slice(all.length - live.events.length)).toEqual(live.events);
        for (const [index, event] of all.entries()) expect(event.prevSeq).toBe(all[index - 1]?.seq ?? 0);
        const firstLive = all.length - live.events.length;
        expect(latestSeq).toBe(all[firstLive - 1]?.seq ?? 0);
        expect(old.events).toEqual(live.events.map(({ prevSeq: _, ...event }) => event));
      },
    ),
    { numRuns: 300 },
  );
});

it.each([
  ['memory', 1000],
  ['the journal', 1],
])('loses no event where an answer from %s is cut by its size', async (_from, ringEvents) => {
  const commits = storedCommits(
    Array.from({ length: 120 }, (_, n) => ({
      thread: n % 3 === 0 ? 't2' : 't1',
      world: 'home',
      types: ['item.delta'],
      gap: 1,
    })),
  ).map((stored) => ({
    ...stored,
    commit: { ...stored.commit, events: [{ type: 'item.delta', payload: { delta: 'x'.repeat(64 * 1024) } }] },
  })) as StoredCommit[];
  const source = sourceOf(commits);
  const hub = new EventHub({
    source,
    searchBack: (filter, beforeSeq) => lastMatchBefore(source, filter, beforeSeq),
    ringEvents,
    ringChars: 1e9,
    onDelay: () => undefined,
  });
  hub.start({ streamSeq: 0, latestSeq: 0 });
  for (const stored of commits) hub.ingest({ commits: [stored], appliedSeq: stored.streamSeq });
  await hub.idle();
  const replay = createReplay({ hub, source, gate: new Gate(4, 10) });
  for (const filter of [null, { threadIds: ['t1'] }]) {
    const seqs: number[] = [];
    let answers = 0;
    for (let afterSeq = 0, hasMore = true; hasMore; answers += 1) {
      const page = JSON.parse((await replay({ afterSeq, limit: 500, filter, linked: true })).text) as Page;
      seqs.push(...page.events.map((event) => event.seq));
      ({ nextAfterSeq: afterSeq, hasMore } = page);
    }
    expect(answers).toBeGreaterThan(1);
    const wanted = commits.filter((stored) => filter === null || stored.subject.includes('.t1.'));
    expect(seqs).toEqual(wanted.map((stored) => stored.streamSeq * 1024));
  }
});

it('encodes an event once for all who want the same', async () => {
  const hub = new EventHub({
    source: sourceOf([]),
    searchBack: async () => 0,
    ringEvents: 10,
    ringChars: 1e6,
    onDelay: () => undefined,
  });
  hub.start({ streamSeq: 0, latestSeq: 0 });
  const frames = new Set<Buffer>();
  for (let n = 0; n < 200; n += 1) hub.joinAll({ protocol: 13, deliver: (_event, frame) => frames.add(frame) });
  const commits = storedCommits([{ thread: 't1', world: 'home', types: ['item.delta', 'item.delta'], gap: 1 }]);
  hub.ingest({ commits, appliedSeq: 1 });
  expect(frames.size).toBe(2);
});

it('keeps order while a long text is fetched, and tries until it is there', async () => {
  const commits = storedCommits(
    Array.from({ length: 4 }, () => ({ thread: 't1', world: 'home', types: ['item.delta'], gap: 1 })),
  );
  let failures = 2;
  const source: CommitSource = {
    ...sourceOf(commits),
    hasBlobs: (stored) => stored.streamSeq === 2,
    inline: async (stored) => {
      failures -= 1;
      if (failures >= 0) throw new Error('not there');
      return stored;
    },
  };
  const hub = new EventHub({
    source,
    searchBack: async () => 0,
    ringEvents: 10,
    ringChars: 1e6,
    onDelay: () => undefined,
  });
  hub.start({ streamSeq: 0, latestSeq: 0 });
  const listener = new Listener(13);
  hub.joinAll(listener);
  for (const stored of commits) hub.ingest({ commits: [stored], appliedSeq: stored.streamSeq });
  expect(listener.events).toHaveLength(1);
  await hub.idle();
  expect(listener.events.map((event) => event.seq)).toEqual([1024, 2048, 3072, 4096]);
});

it('goes on in order when what it asks is away for a moment', async () => {
  const commits = storedCommits(
    Array.from({ length: 3 }, () => ({ thread: 't1', world: 'home', types: ['item.delta'], gap: 1 })),
  );
  let failures = 2;
  const source: CommitSource = {
    ...sourceOf(commits),
    isQuarantined: () => {
      failures -= 1;
      if (failures >= 0) throw new Error('being built anew');
      return false;
    },
  };
  const delays: unknown[] = [];
  const hub = new EventHub({
    source,
    searchBack: async () => 0,
    ringEvents: 10,
    ringChars: 1e6,
    onDelay: (error) => delays.push(error),
  });
  hub.start({ streamSeq: 0, latestSeq: 0 });
  const listener = new Listener(13);
  hub.joinAll(listener);
  for (const stored of commits) hub.ingest({ commits: [stored], appliedSeq: stored.streamSeq });
  await hub.idle();
  expect(listener.events.map((event) => event.seq)).toEqual([1024, 2048, 3072]);
  expect(delays).toHaveLength(2);
});

it('keeps what was known of damaged threads while the view is being built anew', () => {
  let isAway = false;
  let quarantined = 1;
  const rows = [{ scope: threadFilter('home', 't1'), stream_seq: 5 }];
  const model = {
    stats: () => ({ quarantined }),
    read: (query: (reader: unknown) => unknown) => {
      if (isAway) throw new Error('being built anew');
      return query({ prepare: () => ({ all: () => rows }) });
    },
  };
  const ports = { model, world: () => 'home' } as unknown as Parameters<typeof journalSource>[0];
  const source = journalSource(ports);
  expect(source.isQuarantined('t1', 5)).toBe(true);
  isAway = true;
  quarantined = 0;
  expect(source.isQuarantined('t1', 5)).toBe(true);
  rows.length = 0;
  isAway = false;
  expect(source.isQuarantined('t1', 5)).toBe(false);
});

it('keeps a filter alive for one who joins it while another leaves it', async () => {
  const hub = new EventHub({
    source: sourceOf([]),
    searchBack: async () => 0,
    ringEvents: 10,
    ringChars: 1e6,
    onDelay: () => undefined,
  });
  hub.start({ streamSeq: 0, latestSeq: 0 });
  const listener = new Listener(13);
  const filter = { threadIds: ['t1'] };
  const first = await hub.join(listener, filter);
  await hub.join(listener, { threadIds: ['t1', 't1'] }, first.leave);
  const commits = storedCommits([{ thread: 't1', world: 'home', types: ['item.delta'], gap: 1 }]);
  hub.ingest({ commits, appliedSeq: 1 });
  expect(listener.events).toHaveLength(1);
});
