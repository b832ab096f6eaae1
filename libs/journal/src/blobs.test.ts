import type { BlobStore } from '@rookery/bus';
import { type Commit, isBlobRef, sha256Hex } from '@rookery/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeCommit } from './append.ts';
import { externalizeBlobs, hasBlobs, inlineBlobs } from './blobs.ts';

/** A store in memory that holds what was put, by thread. */
function memoryStore(): BlobStore & { texts: Map<string, string>; puts: number } {
  const texts = new Map<string, string>();
  return {
    texts,
    puts: 0,
    put(threadId, text) {
      this.puts += 1;
      const sha256 = sha256Hex(text);
      texts.set(`${threadId}/${sha256}`, text);
      return Promise.resolve(sha256);
    },
    get: (threadId, sha256) => Promise.resolve(texts.get(`${threadId}/${sha256}`) ?? null),
  };
}

const commitOf = (...payloads: Record<string, unknown>[]): Commit => ({
  v: 1,
  id: 'c',
  cause: 'c',
  at: '2026-01-01T00:00:00.000Z',
  by: 'agent/h',
  agentId: 'main',
  events: payloads.map((payload) => ({ type: 'item.completed', itemId: 'i', payload })),
});
const eventsAs = (commit: Commit, type: string): Commit => ({
  ...commit,
  events: commit.events.map((event) => ({ ...event, type })),
});
const payloadOf = (commit: Commit): Record<string, unknown> => commit.events[0]?.payload ?? {};

describe('long strings of a commit', () => {
  it('stay up to 65,536 characters and move from 65,537 on', async () => {
    const store = memoryStore();
    const short = commitOf({ content: 'x'.repeat(65_536) });
    expect(await externalizeBlobs(short, store, 't')).toBe(short);
    expect(store.puts).toBe(0);
    const long = 'x'.repeat(65_537);
    const moved = await externalizeBlobs(commitOf({ content: long }), store, 't');
    expect(payloadOf(moved)).toEqual({ content: { blob: sha256Hex(long), bytes: 65_537, head: 'x'.repeat(1024) } });
    expect(store.texts.get(`t/${sha256Hex(long)}`)).toBe(long);
  });

  it('are counted in UTF-8 bytes and keep whole characters in their head', async () => {
    const text = `${'x'.repeat(1023)}${'🐦'.repeat(40_000)}`;
    const moved = await externalizeBlobs(commitOf({ content: text }), memoryStore(), 't');
    expect(payloadOf(moved).content).toMatchObject({ bytes: 1023 + 160_000, head: 'x'.repeat(1023) });
    const even = await externalizeBlobs(commitOf({ content: '🐦'.repeat(40_000) }), memoryStore(), 't');
    expect(payloadOf(even).content).toMatchObject({ head: '🐦'.repeat(512) });
  });

  it('move from any depth, and everything else stays', async () => {
    const long = 'y'.repeat(70_000);
    const payload = {
      item: { data: { arguments: { list: [1, null, { content: long }], keep: 'x' } } },
      flag: true,
      none: null,
    };
    const moved = await externalizeBlobs(commitOf(payload, { content: 'short' }), memoryStore(), 't');
    const blob = { blob: sha256Hex(long), bytes: 70_000, head: 'y'.repeat(1024) };
    expect(payloadOf(moved)).toEqual({
      item: { data: { arguments: { list: [1, null, { content: blob }], keep: 'x' } } },
      flag: true,
      none: null,
    });
    expect(moved.events[1]?.payload).toEqual({ content: 'short' });
    expect(hasBlobs(moved.events[0]?.payload)).toBe(true);
    expect(hasBlobs(moved.events[1]?.payload)).toBe(false);
  });

  it('leave the commit itself as it was', async () => {
    const long = 'y'.repeat(70_000);
    const commit = commitOf({ content: long });
    await externalizeBlobs(commit, memoryStore(), 't');
    expect(payloadOf(commit)).toEqual({ content: long });
  });

  it('move from 4,097 characters on where the commit would be too large with them, and come back', async () => {
    const store = memoryStore();
    const texts = Array.from({ length: 10 }, (_, index) => `${index}${'x'.repeat(60_000)}`);
    const commit = commitOf(...texts.map((content) => ({ content, short: 'y'.repeat(4096) })));
    expect(() => encodeCommit(eventsAs(commit, 'context.compacted'))).toThrow(
      expect.objectContaining({ code: 'COMMIT_TOO_LARGE' }),
    );
    const moved = await externalizeBlobs(commit, store, 't');
    expect(encodeCommit(eventsAs(moved, 'context.compacted')).length).toBeLessThan(524_288);
    expect(payloadOf(moved)).toMatchObject({ content: { bytes: 60_001 }, short: 'y'.repeat(4096) });
    expect(await inlineBlobs(moved, store, 't')).toEqual(commit);
  });

  it('of a delta stay, whatever their length', async () => {
    const store = memoryStore();
    const commit = eventsAs(commitOf({ delta: 'x'.repeat(70_000) }), 'item.delta');
    expect(await externalizeBlobs(commit, store, 't')).toBe(commit);
    expect(store.puts).toBe(0);
  });

  it('come back as they were, from their own thread only', async () => {
    const long = fc.constantFrom('x'.repeat(65_537), '🐦'.repeat(33_000), `"\\\n${'é'.repeat(70_000)}`);
    const value = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 3 },
        long,
        fc.string(),
        fc.integer(),
        fc.constant(null),
        fc.array(tie('node'), { maxLength: 3 }),
        fc.dictionary(fc.string(), tie('node'), { maxKeys: 3 }),
      ),
    })).node;
    await fc.assert(
      fc.asyncProperty(value, async (node) => {
        const store = memoryStore();
        const commit = commitOf({ node });
        const moved: Commit = JSON.parse(JSON.stringify(await externalizeBlobs(commit, store, 't')));
        expect(await inlineBlobs(moved, store, 't')).toEqual(JSON.parse(JSON.stringify(commit)));
        if (hasBlobs(moved))
          expect(await inlineBlobs(moved, store, 'another')).not.toEqual(JSON.parse(JSON.stringify(commit)));
      }),
      { numRuns: 40 },
    );
  });

  it('that the store lost show their head and say how much is missing', async () => {
    const value = { content: { blob: 'a'.repeat(64), bytes: 70_000, head: 'The beginning' } };
    expect(await inlineBlobs(value, memoryStore(), 't')).toEqual({
      content: 'The beginning… [70000 bytes are missing]',
    });
  });

  it('are not looked for where only the name of a key is the same', async () => {
    const value = { blob: 'notes.bin', bytes: 3 };
    expect(hasBlobs(value)).toBe(false);
    expect(isBlobRef({ blob: 'a'.repeat(64), bytes: 1, head: '', more: 1 })).toBe(false);
    expect(await inlineBlobs(value, memoryStore(), 't')).toBe(value);
  });
});
