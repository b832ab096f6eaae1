import type { RawMessage } from '@rookery/journal';
import { conversationProjection } from '@rookery/kernel';
import { encodeStored, sampleConversation, seededRandom } from '@rookery/testkit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Applier } from './applier.ts';
import { createTables } from './bookkeeping.ts';
import { openDatabase } from './database.ts';
import { digest } from './digest.ts';

/** An empty read model. */
function freshModel() {
  const db = openDatabase(':memory:', { synchronous: 'NORMAL' });
  createTables(db, conversationProjection);
  return { db, applier: new Applier(db, conversationProjection) };
}

const random = seededRandom(7);
const journal = sampleConversation({ threads: 3, turns: 2, pick: (waiting) => random.integer(0, waiting - 1) });
const messages = journal.map(encodeStored);
const foreign = (streamSeq: number, subject: string) => ({
  streamSeq,
  subject,
  data: new TextEncoder().encode('{"api":"answer"}'),
  isCommit: false,
});

/** The same stream with other messages put in at some places, numbered anew. */
function withMessages(extra: { at: number; subject: string; data: Uint8Array; isCommit: boolean }[]) {
  const out = messages.map((message, index) => ({ at: index, ...message }));
  const all = [...out, ...extra].sort((a, b) => a.at - b.at);
  return all.map(({ at: _at, ...message }, index) => ({ ...message, streamSeq: index + 1 }));
}

const expected = (() => {
  const { db, applier } = freshModel();
  for (const message of messages) applier.apply([message]);
  return { digest: digest(db), checkpoint: applier.checkpoint };
})();

describe('batches', () => {
  it('give the same rows wherever they are cut and whatever is delivered twice', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: messages.length }), { maxLength: 12 }),
        fc.integer({ min: 0, max: 5 }),
        (cuts, overlap) => {
          const { db, applier } = freshModel();
          let from = 0;
          for (const cut of [...cuts.sort((a, b) => a - b), messages.length]) {
            applier.apply(messages.slice(Math.max(0, from - overlap), cut));
            from = Math.max(from, cut);
          }
          expect(digest(db)).toEqual(expected.digest);
          expect(applier.checkpoint).toEqual(expected.checkpoint);
          db.close();
        },
      ),
      { numRuns: 20 },
    );
  }, 60_000);

  it('name the commits that were applied, each once', () => {
    const { applier } = freshModel();
    const first = applier.apply(messages.slice(0, 10));
    const second = applier.apply(messages.slice(5, 20));
    const seqs = [...first.accepted, ...second.accepted].map((message) => message.streamSeq);
    expect(seqs).toEqual(messages.slice(0, 20).map((message) => message.streamSeq));
    expect(applier.checkpoint.marks).toEqual([
      { seq: 20, id: journal[19]?.commit.id },
      { seq: 19, id: journal[18]?.commit.id },
    ]);
  });

  it('leave no chunk of an item that is complete, and all chunks of one that is not', () => {
    const chunks = (count: number) => {
      const { db, applier } = freshModel();
      applier.apply(messages.slice(0, count));
      return db.prepare<[], string>(`SELECT group_concat(text, '') FROM stream_chunks GROUP BY item_id`).pluck().all();
    };
    const lastDelta = messages.findIndex(({ data }) => new TextDecoder().decode(data).includes('"word 1 "'));
    expect(chunks(lastDelta + 1)).toContain('word 0 word 1 ');
    expect(chunks(messages.length)).toEqual([]);
  });

  it('change nothing when their transaction is refused', () => {
    const { db, applier } = freshModel();
    applier.apply(messages.slice(0, 5));
    const before = digest(db);
    db.pragma('query_only = ON');
    expect(() => applier.apply(messages.slice(5))).toThrow(expect.objectContaining({ code: 'SQLITE_READONLY' }));
    db.pragma('query_only = OFF');
    expect(digest(db)).toEqual(before);
    applier.apply(messages);
    expect(digest(db)).toEqual(expected.digest);
  });
});

describe('a batch of several transactions', () => {
  it('names the commits of those that were made before the disk was full, each once', () => {
    // Each of these takes a row of its own: the second transaction needs more pages than the first.
    const bulk = Array.from({ length: 1500 }, (_, n) =>
      foreign(messages.length + 1 + n, `journal.home.thread.x${n}.turns`),
    );
    const stream = [...messages, ...bulk];
    const { db, applier } = freshModel();
    const measured = freshModel();
    measured.applier.apply(stream.slice(0, 1000));
    db.pragma(`max_page_count = ${Number(measured.db.pragma('page_count', { simple: true }))}`);
    const accepted: RawMessage[] = [];
    expect(() => applier.apply(stream, accepted)).toThrow(expect.objectContaining({ code: 'SQLITE_FULL' }));
    expect(applier.checkpoint.appliedSeq).toBe(1000);
    db.pragma('max_page_count = 1000000');
    applier.apply(stream, accepted);
    expect(accepted).toEqual(messages);
  });

  it('names the commits before one that does not fit, where the disk is full behind it', () => {
    const { db, applier } = freshModel();
    const body = JSON.parse(new TextDecoder().decode(messages.at(-1)?.data));
    const orphan = JSON.stringify({ ...body, events: [{ type: 'item.started', payload: { item: orphanItem } }] });
    const misfit = {
      streamSeq: messages.length + 1,
      subject: 'journal.home.thread.x.run.run_x',
      data: new TextEncoder().encode(orphan),
      isCommit: true,
    };
    const bulk = Array.from({ length: 800 }, (_, n) =>
      foreign(messages.length + 2 + n, `journal.home.thread.x${n}.turns`),
    );
    const measured = freshModel();
    measured.applier.apply([...messages, misfit]);
    db.pragma(`max_page_count = ${Number(measured.db.pragma('page_count', { simple: true })) + 1}`);
    const accepted: RawMessage[] = [];
    const stream = [...messages, misfit, ...bulk];
    // Together they do not fit because of the misfit, one by one because of the pages.
    expect(() => applier.apply(stream, accepted)).toThrow(expect.objectContaining({ code: 'SQLITE_FULL' }));
    expect(applier.checkpoint.appliedSeq).toBeGreaterThan(messages.length);
    db.pragma('max_page_count = 1000000');
    applier.apply(stream, accepted);
    expect(accepted).toEqual(messages);
  });
});

describe('holes', () => {
  it('stop the reader before the first message behind them', () => {
    const { applier } = freshModel();
    const { stop, accepted } = applier.apply(messages.filter((message) => message.streamSeq !== 8));
    expect(stop).toEqual({ reason: 'hole', after: 7, found: 9 });
    expect(accepted).toHaveLength(7);
    expect(applier.checkpoint.appliedSeq).toBe(7);
  });

  it('are passed over where they are on record as erased, over several ranges', () => {
    const { db, applier } = freshModel();
    db.exec('INSERT INTO erasures VALUES (1, 2), (3, 3)');
    expect(applier.isErased(1, 3)).toBe(true);
    expect(applier.isErased(1, 4)).toBe(false);
    expect(applier.apply([foreign(4, 'journal.config')]).stop).toBeNull();
    expect(applier.checkpoint.appliedSeq).toBe(4);
  });
});

describe('messages that are none of ours', () => {
  it('count for the head of their subject and for nothing else', () => {
    const { db, applier } = freshModel();
    const subject = messages[0]?.subject ?? '';
    applier.apply([...messages.slice(0, 1), foreign(2, subject), foreign(3, 'journal.config')]);
    const heads = db.prepare('SELECT subject, stream_seq, commit_id FROM subject_heads ORDER BY subject').all();
    expect(heads).toEqual([
      { subject: 'journal.config', stream_seq: 3, commit_id: null },
      { subject, stream_seq: 2, commit_id: journal[0]?.commit.id },
    ]);
    expect(applier.checkpoint).toMatchObject({ appliedSeq: 3, appliedCount: 1, foreignCount: 2 });
  });
});

describe('damage', () => {
  const victim = messages[0]?.subject ?? '';
  const poison = (data: string) => ({ at: 3, subject: victim, data: new TextEncoder().encode(data), isCommit: true });
  const threadOf = (subject: string) => subject.split('.')[3] ?? '';
  const untouched = journal.filter(({ subject }) => threadOf(subject) !== threadOf(victim));

  it.each([
    ['bad JSON', '{'],
    ['an unknown event', JSON.stringify({ ...journal[0]?.commit, events: [{ type: 'no.such', payload: {} }] })],
    ['a field too many', JSON.stringify({ ...journal[0]?.commit, extra: 1 })],
  ])('by %s takes its thread out of service from there, and nothing else', (_name, data) => {
    const { db, applier } = freshModel();
    const stream = withMessages([poison(data)]);
    const { accepted } = applier.apply(stream);
    const at = stream.findIndex((message) => message.subject === victim && message.data.length === data.length) + 1;
    expect(db.prepare('SELECT subject, stream_seq, reason FROM quarantine').all()).toEqual([
      { subject: victim, stream_seq: at, reason: 'damaged' },
    ]);
    const others = accepted.filter(({ subject }) => threadOf(subject) !== threadOf(victim));
    expect(others).toHaveLength(untouched.length);
    expect(accepted.some((message) => threadOf(message.subject) === threadOf(victim) && message.streamSeq > at)).toBe(
      false,
    );
    expect(applier.checkpoint.appliedSeq).toBe(stream.length);
    const again = freshModel();
    for (const message of stream) again.applier.apply([message]);
    expect(digest(again.db)).toEqual(digest(db));
    // What is on record survives a restart of the projector.
    expect(
      new Applier(db, conversationProjection).apply([{ ...poison('{'), streamSeq: stream.length + 1 }]).accepted,
    ).toEqual([]);
  });

  it('by rows that do not fit is the same in one batch and one by one', () => {
    // A commit of a run that no turn ever submitted, in the middle of sound ones.
    const body = JSON.parse(new TextDecoder().decode(messages.at(-1)?.data));
    const orphan = JSON.stringify({ ...body, events: [{ type: 'item.started', payload: { item: orphanItem } }] });
    const stream = withMessages([
      { at: 20, subject: victim.replace('turns', 'run.run_x'), data: new TextEncoder().encode(orphan), isCommit: true },
    ]);
    const whole = freshModel();
    whole.applier.apply(stream);
    const single = freshModel();
    for (const message of stream) single.applier.apply([message]);
    expect(whole.db.prepare('SELECT reason, detail FROM quarantine').all()).toEqual([
      { reason: 'inconsistent', detail: 'SQLITE_CONSTRAINT_FOREIGNKEY' },
    ]);
    expect(digest(whole.db)).toEqual(digest(single.db));
    expect(whole.applier.checkpoint).toEqual(single.applier.checkpoint);
  });

  it('by a newer journal version stops everything before it', () => {
    const { applier } = freshModel();
    const data = JSON.stringify({ ...journal[0]?.commit, v: 99 });
    const { stop, accepted } = applier.apply(withMessages([poison(data)]));
    expect(stop).toMatchObject({ reason: 'too_new' });
    expect(applier.checkpoint.appliedSeq).toBe(accepted.length);
  });
});

const orphanItem = {
  id: 'item_x',
  turnId: 'turn_x',
  runId: 'run_x',
  ordinal: 2,
  kind: 'message',
  role: 'assistant',
  status: 'streaming',
  content: '',
  data: {},
  createdAt: '2026-11-30T12:00:00.000Z',
  updatedAt: '2026-11-30T12:00:00.000Z',
};
