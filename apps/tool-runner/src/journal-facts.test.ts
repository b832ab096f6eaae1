import { AppError, type Commit, type ProcessRecord, type StoredCommit } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { JournalFacts } from './journal-facts.ts';
import type { ProcessMeta } from './processes/process-files.ts';

const meta: ProcessMeta = {
  ...{ version: 1, runnerId: 'main', world: 'home', agentId: 'main', branchId: 'branch_1', turnId: 'turn_1' },
  ...{ processId: 'process_1', threadId: 'thread_1', runId: 'run_1', itemId: 'item_1', stepOrdinal: 1 },
  ...{ command: 'true', cwd: '/', background: false, state: 'running', exitCode: null, pid: 1, errorCode: null },
  ...{ startedAt: null, finishedAt: null, startMark: null, bootId: '', omittedBytes: 0 },
};
const ended: ProcessMeta = { ...meta, state: 'exited', exitCode: 0, finishedAt: '2026-11-30T12:00:01.000Z' };

function record(output: string): ProcessRecord {
  const { version, runnerId, world, agentId, branchId, turnId, startMark, bootId, omittedBytes, ...rest } = meta;
  return { ...rest, stdout: '', stderr: '', output, truncated: false };
}

/** A subject that checks its head as the journal does, and can be made to fail or to wait. */
class Subject {
  readonly commits: StoredCommit[] = [];
  failures: AppError[] = [];
  /** The next appends are stored, but whoever asked never hears of it. */
  unheard = 0;
  open: Promise<void> = Promise.resolve();
  inFlight = 0;
  mostInFlight = 0;

  async append({ subject, expected, commit }: { subject: string; expected: number; commit: Commit }) {
    this.inFlight += 1;
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
    await this.open;
    this.inFlight -= 1;
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    const last = this.commits.at(-1);
    const lastSeq = last?.streamSeq ?? 0;
    if (last?.commit.id === commit.id) return { outcome: 'committed', streamSeq: lastSeq, duplicate: true } as const;
    if (expected !== lastSeq) return { outcome: 'conflict', lastSeq } as const;
    const streamSeq = lastSeq + 10;
    this.commits.push({ streamSeq, subject, commit });
    if (this.unheard > 0) {
      this.unheard -= 1;
      throw new AppError('JOURNAL_AMBIGUOUS');
    }
    return { outcome: 'committed', streamSeq, duplicate: false } as const;
  }

  async readLast(): Promise<StoredCommit | null> {
    return this.commits.at(-1) ?? null;
  }

  outputs(): unknown[] {
    return this.commits
      .flatMap(({ commit }) => commit.events.map(({ payload }) => payload.process))
      .map((process) => {
        return (process as ProcessRecord).output;
      });
  }
}

/** Of a call that nobody cancels. */
const going = new AbortController().signal;
const never = () => {
  throw new Error('nothing was to be reported');
};

describe('JournalFacts', () => {
  it('writes commits of its own subject with an id each', async () => {
    const subject = new Subject();
    const facts = new JournalFacts(subject, 'host-0-a', never);
    await facts.record(meta, record('a'), going);
    await facts.record(meta, record('b'), going);
    const [first, second] = subject.commits;
    expect(first?.subject).toBe('journal.home.thread.thread_1.process.process_1');
    expect(first?.commit).toMatchObject({ by: 'tool/host-0-a', agentId: 'main', runId: 'run_1', turnId: 'turn_1' });
    expect(first?.commit.events[0]).toMatchObject({ type: 'process.recorded', itemId: 'item_1' });
    expect(second?.commit.id).not.toBe(first?.commit.id);
  });

  it('has one append in flight and leaves out what is overtaken, never the last', async () => {
    const subject = new Subject();
    let release = () => {};
    subject.open = new Promise((resolve) => (release = resolve));
    const facts = new JournalFacts(subject, 'host-0-a', never);
    for (const output of ['1', '2', '3']) facts.follow(meta, record(output));
    await expect.poll(() => subject.inFlight).toBe(1);
    facts.follow(meta, record('4'));
    facts.follow(ended, record('end'));
    release();
    await facts.close(20_000);
    expect(subject.outputs().at(-1)).toBe('end');
    expect(subject.outputs().length).toBeLessThan(5);
    expect(subject.mostInFlight).toBe(1);
  });

  it('goes on behind what an earlier start of the runner wrote', async () => {
    const subject = new Subject();
    await new JournalFacts(subject, 'host-0-a', never).record(meta, record('before'), going);
    const next = new JournalFacts(subject, 'host-0-b', never);
    await next.record(meta, record('after'), going);
    subject.commits.push({ ...(subject.commits[0] as StoredCommit), streamSeq: 99 });
    await next.record(meta, record('last'), going);
    expect(subject.outputs()).toEqual(['before', 'after', 'before', 'last']);
  });

  it('tries again what the journal did not take, and gives up what it never will', async () => {
    const subject = new Subject();
    const reported: string[] = [];
    const facts = new JournalFacts(subject, 'host-0-a', (error) => reported.push(error.code));
    subject.failures = [new AppError('JOURNAL_UNAVAILABLE'), new AppError('COMMIT_TOO_LARGE')];
    facts.follow(meta, record('1'));
    await expect.poll(() => reported, { timeout: 10_000 }).toEqual(['JOURNAL_UNAVAILABLE', 'COMMIT_TOO_LARGE']);
    facts.follow(ended, record('2'));
    await facts.close(20_000);
    expect(subject.outputs()).toEqual(['2']);
  });

  it('holds an intent back while the journal is away, until it is taken', async () => {
    const subject = new Subject();
    const reported: string[] = [];
    const facts = new JournalFacts(subject, 'a', (error) => reported.push(error.code));
    subject.failures = [new AppError('SERVICE_UNAVAILABLE'), new AppError('JOURNAL_AMBIGUOUS')];
    await facts.record(meta, record('taken'), going);
    expect(reported).toEqual(['SERVICE_UNAVAILABLE', 'JOURNAL_AMBIGUOUS']);
    expect(subject.outputs()).toEqual(['taken']);
  });

  it('stores the end of a process also behind a fact that was stored unknown to it', async () => {
    const subject = new Subject();
    const reported: string[] = [];
    const facts = new JournalFacts(subject, 'a', (error) => {
      reported.push(error.code);
      facts.follow(ended, record('end'));
    });
    subject.unheard = 1;
    facts.follow(meta, record('running'));
    await expect.poll(() => reported).toEqual(['JOURNAL_AMBIGUOUS']);
    await facts.close(20_000);
    expect(subject.outputs()).toEqual(['running', 'end']);
  });

  it('gives an intent up where the call is cancelled meanwhile', async () => {
    const subject = new Subject();
    const cancelled = new AbortController();
    subject.failures = [new AppError('JOURNAL_UNAVAILABLE')];
    const facts = new JournalFacts(subject, 'a', () => cancelled.abort());
    await expect(facts.record(meta, record(''), cancelled.signal)).rejects.toMatchObject({
      code: 'JOURNAL_UNAVAILABLE',
    });
    expect(subject.commits).toEqual([]);
  });

  it.each(['COMMIT_TOO_LARGE', 'STORAGE_LOW'] as const)('passes on at once that an intent meets %s', async (code) => {
    const subject = new Subject();
    subject.failures = [new AppError(code)];
    await expect(new JournalFacts(subject, 'a', never).record(meta, record(''), going)).rejects.toMatchObject({ code });
  });
});
