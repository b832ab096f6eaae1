import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Commit, commitId, commitSchema, commitTime, seqOf, streamSeqOf } from './envelope.ts';

const commit: Commit = {
  v: 1,
  id: 'journal.home.thread.t1.turns/c1/0',
  cause: 'c1',
  at: '2026-01-01T00:00:00.000Z',
  by: 'agent/host-0-boot',
  agentId: 'main',
  events: [{ type: 'thread.renamed', payload: {} }],
};
const accepts = (value: unknown): boolean => commitSchema.safeParse(value).success;

describe('seq', () => {
  it('is the stream sequence times 1,024 and the place in the commit', () => {
    expect(seqOf(1, 0)).toBe(1024);
    expect(seqOf(1, 1023)).toBe(2047);
    expect(seqOf(2, 0)).toBe(2048);
  });

  it('leads back to its commit, is exact below 2^53, and keeps the order', () => {
    // 2^43 - 1 commits: at 1,000 a second 278 years.
    const place = fc.tuple(fc.integer({ min: 1, max: 2 ** 43 - 1 }), fc.integer({ min: 0, max: 1023 }));
    fc.assert(
      fc.property(place, place, ([stream, index], [otherStream, otherIndex]) => {
        const seq = seqOf(stream, index);
        expect(Number.isSafeInteger(seq)).toBe(true);
        expect(streamSeqOf(seq)).toBe(stream);
        expect(seq - seqOf(stream, 0)).toBe(index);
        const after = stream > otherStream || (stream === otherStream && index > otherIndex);
        expect(seq > seqOf(otherStream, otherIndex)).toBe(after);
      }),
    );
    expect(seqOf(2 ** 43 - 1, 1023)).toBe(Number.MAX_SAFE_INTEGER);
  });
});

describe('the time of a commit', () => {
  it('is now, and never before the commit that came before', () => {
    const now = new Date('2026-01-01T00:00:00.500Z');
    expect(commitTime(now, null)).toBe('2026-01-01T00:00:00.500Z');
    expect(commitTime(now, '2026-01-01T00:00:00.499Z')).toBe('2026-01-01T00:00:00.500Z');
    expect(commitTime(now, '2026-01-01T00:00:00.501Z')).toBe('2026-01-01T00:00:00.501Z');
  });

  it('never runs backwards on a subject, whatever the clock does', () => {
    const clock = fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(fc.array(clock, { minLength: 1 }), (readings) => {
        let previous: string | null = null;
        for (const now of readings) {
          const at: string = commitTime(now, previous);
          expect(at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
          expect(Date.parse(at)).toBeGreaterThanOrEqual(
            Math.max(now.getTime(), previous === null ? 0 : Date.parse(previous)),
          );
          previous = at;
        }
      }),
    );
  });
});

describe('a commit', () => {
  it('has an id of its subject, command and number', () => {
    expect(commitId('journal.config', 'c1', 2)).toBe('journal.config/c1/2');
  });

  it('is taken with its exact keys only', () => {
    expect(accepts(commit)).toBe(true);
    expect(accepts({ ...commit, branchId: 'b', turnId: 't', runId: 'r' })).toBe(true);
    expect(accepts({ ...commit, more: 1 })).toBe(false);
    expect(accepts({ ...commit, events: [{ type: 'x', payload: {}, more: 1 }] })).toBe(false);
    for (const key of Object.keys(commit)) expect(accepts({ ...commit, [key]: undefined })).toBe(false);
  });

  it('holds 1 to 1,024 events', () => {
    const [event] = commit.events;
    const of = (count: number) => ({ ...commit, events: Array.from({ length: count }, () => event) });
    expect([0, 1, 1024, 1025].map((count) => accepts(of(count)))).toEqual([false, true, true, false]);
  });

  it('has its time with milliseconds in UTC', () => {
    const times = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000+01:00', 'yesterday'];
    expect(times.map((at) => accepts({ ...commit, at }))).toEqual([true, false, false, false]);
  });
});
