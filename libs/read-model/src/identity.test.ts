import { describe, expect, it } from 'vitest';
import { checkIdentity, type SeenJournal } from './identity.ts';

const checkpoint = {
  created: '2026-11-30T12:00:00Z',
  journalId: 'j1',
  appliedSeq: 20,
  marks: [
    { seq: 20, id: 'b' },
    { seq: 18, id: 'a' },
  ],
  appliedCount: 19,
  foreignCount: 1,
  skippedCount: 0,
};
const stored = new Map([
  [20, 'b'],
  [18, 'a'],
]);
const same: SeenJournal = {
  created: '2026-11-30T12:00:00Z',
  lastSeq: 25,
  journalId: async () => 'j1',
  commitIdAt: async (seq) => stored.get(seq) ?? null,
  isErased: () => false,
};
const what = async (seen: Partial<SeenJournal>) =>
  (await checkIdentity(checkpoint, { ...same, ...seen }))?.details.what ?? null;

describe('a journal', () => {
  it('is known again by its creation time, length, id and last two commits', async () => {
    expect(await what({})).toBeNull();
    expect(await what({ lastSeq: 20 })).toBeNull();
    expect(await what({ created: '2026-12-01T00:00:00Z' })).toBe('creation time');
    expect(await what({ lastSeq: 19 })).toBe('last sequence');
    expect(await what({ journalId: async () => 'j2' })).toBe('journal id');
    expect(await what({ commitIdAt: async (seq) => (seq === 20 ? 'x' : 'a') })).toBe('commit id');
    expect(await what({ commitIdAt: async (seq) => (seq === 18 ? 'x' : 'b') })).toBe('commit id');
    expect(await what({ commitIdAt: async () => null })).toBe('commit id');
  });

  it('may have lost a commit whose erasure is on record, and no other', async () => {
    const erased = {
      commitIdAt: async (seq: number) => (seq === 20 ? null : 'a'),
      isErased: (seq: number) => seq === 20,
    };
    expect(await what(erased)).toBeNull();
    expect(await what({ ...erased, commitIdAt: async (seq) => (seq === 20 ? 'x' : 'a') })).toBe('commit id');
  });

  it('that is another one is refused with both values and the ways back', async () => {
    const error = await checkIdentity(checkpoint, { ...same, lastSeq: 3 });
    expect(error).toMatchObject({
      code: 'JOURNAL_REGRESSED',
      details: { expected: 20, found: 3, waysBack: ['rookery restore DIR', 'rookery journal accept-loss --at SEQ'] },
    });
  });
});
