import { type Bus, connectBus } from '@rookery/bus';
import { type Journal, openJournal, type TailMessage } from '@rookery/journal';
import { AppError, commitId, limits, seqOf } from '@rookery/protocol';
import { commitOf, eventually, sleep, startNats, type TestNats, tcpProxy } from '@rookery/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let count = 0;
/** A subject of its own for each test. */
const newSubject = () => {
  count += 1;
  return `journal.home.thread.t${count}.run.r`;
};
const timings = { ambiguousDeadlineMs: 8000 };

const windows = [
  { window: 'the dedupe window of production', dedupeWindowMs: 120_000 },
  { window: 'a dedupe window of 1 s', dedupeWindowMs: 1000 },
];

describe.each(windows)('append with $window', ({ dedupeWindowMs }) => {
  let nats: TestNats;
  let bus: Bus;
  let journal: Journal;

  beforeAll(async () => {
    nats = await startNats({ dedupeWindowMs });
    bus = await connectBus({ url: nats.url, user: 'agent', seed: nats.seed('agent'), name: 'contract' });
    journal = openJournal(bus, { timings });
  });
  afterAll(async () => {
    await bus?.close();
    await nats?.stop();
  });

  const ids = async (subject: string) => (await journal.readSubject(subject, 0)).map(({ commit }) => commit.id);

  it('stores a commit and says where', async () => {
    const subject = newSubject();
    const result = await journal.append({ subject, expected: 0, commit: commitOf(subject, 'a') });
    const last = await journal.readLast(subject);
    expect(result).toEqual({ outcome: 'committed', streamSeq: last?.streamSeq, duplicate: false });
    expect(last?.commit).toEqual(commitOf(subject, 'a'));
    expect((await journal.info()).lastSeq).toBe(last?.streamSeq);
    expect(seqOf(last?.streamSeq ?? 0, 1023)).toBeLessThan(seqOf((last?.streamSeq ?? 0) + 1, 0));
  });

  it('answers an exact retry with the first result, also behind other commits and after the window', async () => {
    const subject = newSubject();
    const first = await journal.append({ subject, expected: 0, commit: commitOf(subject, 'a') });
    if (first.outcome !== 'committed') throw new Error('not committed');
    const again = { outcome: 'committed', streamSeq: first.streamSeq, duplicate: true };
    expect(await journal.append({ subject, expected: 0, commit: commitOf(subject, 'a') })).toEqual(again);
    await journal.append({ subject, expected: first.streamSeq, commit: commitOf(subject, 'b') });
    expect(await journal.append({ subject, expected: 0, commit: commitOf(subject, 'a') })).toEqual(again);
    if (dedupeWindowMs === 1000) await sleep(1300);
    expect(await journal.append({ subject, expected: 0, commit: commitOf(subject, 'a') })).toEqual(again);
    expect(await ids(subject)).toEqual([commitId(subject, 'a', 0), commitId(subject, 'b', 0)]);
  });

  it('tells what is stored under an id that comes again with other contents, and stores nothing more', async () => {
    const subject = newSubject();
    const first = commitOf(subject, 'a');
    const stored = await journal.append({ subject, expected: 0, commit: first });
    if (stored.outcome !== 'committed') throw new Error('not committed');
    const commit = commitOf(subject, 'a', { at: '2026-01-01T00:00:01.000Z' });
    const known = { outcome: 'committed', streamSeq: stored.streamSeq, duplicate: true, other: first };
    expect(await journal.append({ subject, expected: 0, commit })).toEqual(known);
    const behind = await journal.append({ subject, expected: stored.streamSeq, commit: commitOf(subject, 'b') });
    if (behind.outcome !== 'committed') throw new Error('not committed');
    expect(await journal.append({ subject, expected: 0, commit })).toEqual(known);
    // At the head of the subject only the server's own memory can tell.
    const late = journal.append({ subject, expected: behind.streamSeq, commit });
    if (dedupeWindowMs > 1000) expect(await late).toEqual(known);
    else await late;
    expect((await ids(subject)).slice(0, 2)).toEqual([commitId(subject, 'a', 0), commitId(subject, 'b', 0)]);
  });

  it('gives a conflict with the last sequence when another writer came first', async () => {
    const subject = newSubject();
    await journal.append({ subject, expected: 0, commit: commitOf(subject, 'a') });
    const lastSeq = (await journal.readLast(subject))?.streamSeq;
    const late = await journal.append({ subject, expected: 0, commit: commitOf(subject, 'b') });
    expect(late).toEqual({ outcome: 'conflict', lastSeq });
    expect(await ids(subject)).toEqual([commitId(subject, 'a', 0)]);
  });

  it('gives a conflict when the subject is shorter than the writer believes', async () => {
    const subject = newSubject();
    const result = await journal.append({ subject, expected: 999_999, commit: commitOf(subject, 'a') });
    expect(result).toEqual({ outcome: 'conflict', lastSeq: 0 });
    expect(await ids(subject)).toEqual([]);
  });

  it('lets one of many writers win each place', async () => {
    const subject = newSubject();
    const writers = Array.from({ length: 8 }, (_, n) => commitOf(subject, `w${n}`));
    const results = await Promise.all(writers.map((commit) => journal.append({ subject, expected: 0, commit })));
    expect(results.filter(({ outcome }) => outcome === 'committed')).toHaveLength(1);
    expect(await ids(subject)).toHaveLength(1);
  });

  it('does not take the duplicate of another subject for its own', async () => {
    const [first, second] = [newSubject(), newSubject()];
    await journal.append({ subject: first, expected: 0, commit: commitOf(first, 'a') });
    const stolen = { ...commitOf(second, 'a'), id: commitId(first, 'a', 0) };
    await expect(journal.append({ subject: second, expected: 0, commit: stolen })).rejects.toMatchObject({
      code: 'JOURNAL_UNAVAILABLE',
    });
    expect(await ids(second)).toEqual([]);
  });

  it('refuses what is too large or breaks its schema, and stores none of it', async () => {
    const subject = newSubject();
    const large = commitOf(subject, 'a', {
      events: [{ type: 'item.delta', itemId: 'i', payload: { delta: 'x'.repeat(limits.commitBytes) } }],
    });
    const many = commitOf(subject, 'a', {
      events: Array.from({ length: limits.eventsPerCommit + 1 }, () => ({ type: 'canary.written', payload: {} })),
    });
    const wrong = commitOf(subject, 'a', { events: [{ type: 'run.claimed', payload: { holder: '', epoch: 0 } }] });
    const unknown = commitOf(subject, 'a', { events: [{ type: 'run.invented', payload: {} }] });
    const append = (commit: typeof large) => journal.append({ subject, expected: 0, commit });
    await expect(append(large)).rejects.toMatchObject({ code: 'COMMIT_TOO_LARGE' });
    await expect(append(many)).rejects.toMatchObject({ code: 'COMMIT_TOO_LARGE' });
    await expect(append(wrong)).rejects.toMatchObject({ code: 'INTERNAL' });
    await expect(append(unknown)).rejects.toMatchObject({ code: 'INTERNAL' });
    expect(await ids(subject)).toEqual([]);
  });

  it('appends behind foreign messages, but not past a commit that came between', async () => {
    const subject = newSubject();
    await bus.js.publish(subject, 'no commit of ours');
    const claimed = await journal.append({ subject, expected: 0, commit: commitOf(subject, 'a') });
    expect(claimed.outcome).toBe('committed');
    const head = claimed.outcome === 'committed' ? claimed.streamSeq : 0;
    await bus.js.publish(subject, '{"v":1}');
    await bus.js.publish(subject, '');
    const next = await journal.append({ subject, expected: head, commit: commitOf(subject, 'b') });
    expect(next.outcome).toBe('committed');
    await bus.js.publish(subject, 'again');
    expect(await journal.append({ subject, expected: head, commit: commitOf(subject, 'c') })).toMatchObject({
      outcome: 'conflict',
    });
    expect(await ids(subject)).toEqual([commitId(subject, 'a', 0), commitId(subject, 'b', 0)]);
    const page = await journal.readPage({ fromSeq: 1, max: 100, filter: subject });
    expect(page).toMatchObject({ skipped: 4, end: true });
  });

  it('stores once when the acknowledgement is lost and another writer comes between', async () => {
    const proxy = await tcpProxy(nats.url);
    const slow = await connectBus({
      url: proxy.url,
      user: 'agent',
      seed: nats.seed('agent'),
      name: 'behind the proxy',
      publishTimeoutMs: 400,
    });
    try {
      const behind = openJournal(slow, { timings });
      const subject = newSubject();
      let lost = 1;
      proxy.judge(({ answers }) => {
        if (answers !== subject || lost === 0) return 'pass';
        lost -= 1;
        return 'drop';
      });
      const appending = behind.append({ subject, expected: 0, commit: commitOf(subject, 'mine') });
      const stored = await eventually('the commit whose acknowledgement is lost', () => journal.readLast(subject));
      await journal.append({ subject, expected: stored.streamSeq, commit: commitOf(subject, 'other') });
      expect(await appending).toEqual({ outcome: 'committed', streamSeq: stored.streamSeq, duplicate: true });
      expect(proxy.counts.dropped).toBe(1);
      expect(await ids(subject)).toEqual([commitId(subject, 'mine', 0), commitId(subject, 'other', 0)]);
    } finally {
      await slow.close();
      await proxy.close();
    }
  });

  it('looks again where the read that would tell whether a duplicate is its own gets no answer', async () => {
    const proxy = await tcpProxy(nats.url);
    const user = { user: 'agent', seed: nats.seed('agent'), name: 'behind the proxy', publishTimeoutMs: 400 };
    const slow = await connectBus({ url: proxy.url, ...user });
    try {
      const subject = newSubject();
      const first = await journal.append({ subject, expected: 0, commit: commitOf(subject, 'a') });
      if (first.outcome !== 'committed') throw new Error('not committed');
      let lost = 2;
      proxy.judge(({ answers }) => {
        if (answers !== '$JS.API.DIRECT.GET.JOURNAL' || lost === 0) return 'pass';
        lost -= 1;
        return 'drop';
      });
      // At the head of its subject the server itself calls it a duplicate, before it looks at the expected sequence.
      const again = { subject, expected: first.streamSeq, commit: commitOf(subject, 'a') };
      if (dedupeWindowMs > 1000) {
        expect(await openJournal(slow, { timings }).append(again)).toEqual({ ...first, duplicate: true });
        expect(lost).toBe(0);
      }
    } finally {
      await slow.close();
      await proxy.close();
    }
  });

  it('does not call a commit refused that an attempt before may have stored', async () => {
    const proxy = await tcpProxy(nats.url);
    const user = { user: 'agent', seed: nats.seed('agent'), name: 'behind the proxy', publishTimeoutMs: 400 };
    const slow = await connectBus({ url: proxy.url, ...user });
    const owner = await connectBus({ url: nats.url, user: 'provision', seed: nats.seed('provision'), name: 'owner' });
    try {
      await owner.jsm.streams.update('JOURNAL', { max_bytes: 1 });
      const subject = newSubject();
      const request = { subject, expected: 0, commit: commitOf(subject, 'a') };
      await expect(openJournal(slow, { timings }).append(request)).rejects.toMatchObject({ code: 'STORAGE_LOW' });
      let lost = 1;
      proxy.judge(({ answers }) => {
        if (answers !== subject || lost === 0) return 'pass';
        lost -= 1;
        return 'drop';
      });
      await expect(openJournal(slow, { timings }).append(request)).rejects.toMatchObject({ code: 'JOURNAL_AMBIGUOUS' });
      expect(lost).toBe(0);
    } finally {
      await owner.jsm.streams.update('JOURNAL', { max_bytes: -1 });
      await Promise.all([slow.close(), owner.close()]);
      await proxy.close();
    }
  });

  it('tells the truth about every append while acknowledgements are lost and two writers compete', async () => {
    const proxy = await tcpProxy(nats.url);
    const slow = await connectBus({
      url: proxy.url,
      user: 'agent',
      seed: nats.seed('agent'),
      name: 'behind the proxy',
      publishTimeoutMs: 150,
    });
    try {
      const behind = openJournal(slow, { timings });
      const subject = newSubject();
      let passage = 0;
      proxy.judge(({ answers }) => {
        passage += answers === subject ? 1 : 0;
        return answers === subject && passage % 3 === 0 ? 'drop' : 'pass';
      });
      const outcomes: { id: string; outcome: string }[] = [];
      const write = async (through: Journal, name: string) => {
        for (let n = 0; n < 15; n += 1) {
          const commit = commitOf(subject, `${name}${n}`);
          const expected = (await journal.readLast(subject))?.streamSeq ?? 0;
          outcomes.push({ id: commit.id, outcome: (await through.append({ subject, expected, commit })).outcome });
        }
      };
      await Promise.all([write(behind, 'lossy'), write(journal, 'direct')]);
      const stored = await ids(subject);
      expect(new Set(stored).size).toBe(stored.length);
      expect([...stored].sort()).toEqual(
        outcomes
          .filter(({ outcome }) => outcome === 'committed')
          .map(({ id }) => id)
          .sort(),
      );
      expect(proxy.counts.dropped).toBeGreaterThan(3);
    } finally {
      await slow.close();
      await proxy.close();
    }
  });
});

describe('a journal whose server is stopped, killed or away', () => {
  let nats: TestNats;
  let bus: Bus;
  beforeAll(async () => {
    nats = await startNats();
    bus = await connectBus({
      url: nats.url,
      user: 'agent',
      seed: nats.seed('agent'),
      name: 'contract',
      publishTimeoutMs: 400,
    });
  });
  afterAll(async () => {
    await bus?.close();
    await nats?.stop();
  });

  it('finds out after a pause of the server that the commit was stored once', async () => {
    const journal = openJournal(bus, { timings });
    const subject = newSubject();
    nats.signal('SIGSTOP');
    const appending = journal.append({ subject, expected: 0, commit: commitOf(subject, 'a') });
    await sleep(1200);
    nats.signal('SIGCONT');
    expect(await appending).toMatchObject({ outcome: 'committed' });
    expect(await journal.readSubject(subject, 0)).toHaveLength(1);
  });

  it('says that it does not know at its deadline, and the same id finds the truth later', async () => {
    const journal = openJournal(bus, { timings: { ambiguousDeadlineMs: 900 } });
    const subject = newSubject();
    const request = { subject, expected: 0, commit: commitOf(subject, 'a') };
    nats.signal('SIGSTOP');
    try {
      await expect(journal.append(request)).rejects.toMatchObject({ code: 'JOURNAL_AMBIGUOUS', retry: 'after-check' });
    } finally {
      nats.signal('SIGCONT');
    }
    expect(journal.failedSince()).not.toBeNull();
    expect(await openJournal(bus, { timings }).append(request)).toMatchObject({ outcome: 'committed' });
    expect(await journal.readSubject(subject, 0)).toHaveLength(1);
  });

  it('keeps what was acknowledged and follows on after kill -9 of the server', async () => {
    const journal = openJournal(bus, { timings });
    const subject = newSubject();
    const seen: TailMessage[] = [];
    const begins: number[] = [];
    let next = 1;
    const tail = journal.tail({
      begin: async ({ lastSeq }) => {
        begins.push(lastSeq);
        return next;
      },
      onBatch: async (batch) => {
        for (const message of batch) {
          expect(message.streamSeq).toBe(next);
          next = message.streamSeq + 1;
          seen.push(message);
        }
      },
    });
    try {
      let expected = 0;
      for (let n = 0; n < 20; n += 1) {
        if (n === 10) {
          await nats.kill();
          setTimeout(() => void nats.restart(), 300);
        }
        const result = await journal.append({ subject, expected, commit: commitOf(subject, `c${n}`) });
        if (result.outcome !== 'committed') throw new Error('a single writer met a conflict');
        expected = result.streamSeq;
      }
      const { lastSeq } = await journal.info();
      await eventually('the tail to be level', () => next > lastSeq);
      expect((await journal.readSubject(subject, 0)).map(({ commit }) => commit.cause)).toEqual(
        Array.from({ length: 20 }, (_, n) => `c${n}`),
      );
      expect(seen.filter((message) => message.subject === subject)).toHaveLength(20);
      expect(begins.length).toBeGreaterThanOrEqual(2);
    } finally {
      await tail.stop();
    }
  });

  it.each(['pages', 'live messages'])('ends a tail by an error of its reader among %s, and stops', async (among) => {
    const journal = openJournal(bus, { timings });
    const subject = newSubject();
    const { lastSeq } = await journal.info();
    const write = async () => {
      let expected = 0;
      for (let n = 0; n < 3; n += 1) {
        const result = await journal.append({ subject, expected, commit: commitOf(subject, `c${n}`) });
        expected = result.outcome === 'committed' ? result.streamSeq : 0;
      }
    };
    if (among === 'pages') await write();
    const errors: AppError[] = [];
    let isLevel = false;
    const tail = journal.tail({
      begin: async () => lastSeq + 1,
      onBatch: async () => {
        throw new AppError('READMODEL_TOO_OLD');
      },
      onState: (state) => {
        isLevel ||= state === 'level';
      },
      onEnd: (error) => errors.push(error),
    });
    if (among === 'live messages') {
      await eventually('a tail that follows', () => isLevel);
      await write();
    }
    await eventually('the end of the tail', () => errors.length > 0);
    await tail.stop();
    expect(errors.map(({ code }) => code)).toEqual(['READMODEL_TOO_OLD']);
  });

  it('lets a writer that may read only its last commits append and meet its own retry', async () => {
    const runner = await connectBus({ url: nats.url, user: 'tool', seed: nats.seed('tool'), name: 'runner' });
    try {
      const journal = openJournal(runner, { singleWriter: true, timings });
      count += 1;
      const subject = `journal.home.thread.t${count}.process.p`;
      const first = await journal.append({ subject, expected: 0, commit: commitOf(subject, 'a') });
      expect(first).toMatchObject({ outcome: 'committed', duplicate: false });
      expect(await journal.append({ subject, expected: 0, commit: commitOf(subject, 'a') })).toMatchObject({
        outcome: 'committed',
        duplicate: true,
      });
      const turns = `journal.home.thread.t${count}.turns`;
      await expect(journal.append({ subject: turns, expected: 0, commit: commitOf(turns, 'a') })).rejects.toMatchObject(
        {
          code: 'PERMISSION_VIOLATION',
        },
      );
    } finally {
      await runner.close();
    }
  });
});
