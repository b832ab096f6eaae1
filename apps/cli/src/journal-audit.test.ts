import type { StoredMessage } from '@rookery/journal';
import { expect, it } from 'vitest';
import { JournalAudit } from './journal-audit.ts';

const run = 'journal.home.thread.t.run.r';
const at = '2026-01-01T00:00:00.000Z';

function message(streamSeq: number, type: string, payload: object, changed: object = {}, subject = run): StoredMessage {
  const commit = {
    v: 1,
    id: `${subject}/c${streamSeq}/0`,
    cause: 'c',
    at,
    by: 'agent/h-0-b',
    agentId: 'main',
    runId: 'r',
    events: [{ type, payload }],
    ...changed,
  };
  return {
    streamSeq,
    subject,
    data: new TextEncoder().encode(JSON.stringify(commit)),
    isCommit: true,
    messageId: commit.id,
  };
}
const claimed = (seq: number, epoch: number) => message(seq, 'run.claimed', { holder: 'h', epoch });
const settled = (seq: number) => message(seq, 'run.settled', { status: 'completed', settledAt: at });

function problems(messages: StoredMessage[]): string[] {
  const audit = new JournalAudit('JOURNAL');
  for (const one of messages) audit.add(one);
  return audit.problems.map(({ streamSeq, what }) => `${streamSeq} ${what}`);
}

it('finds nothing in a run that went as it should', () => {
  expect(problems([claimed(1, 1), settled(2)])).toEqual([]);
});

it('finds a commit stored twice, a run that goes on after its end, and a wrong epoch', () => {
  const twice = { ...claimed(1, 1), streamSeq: 3 };
  expect(problems([claimed(1, 1), twice])[0]).toBe('3 the commit of sequence 1 again');
  expect(problems([claimed(1, 1), settled(2), settled(4)])).toEqual(['4 stands after the end of its run']);
  expect(problems([claimed(1, 2)])).toEqual(['1 claimed with epoch 2']);
});

it('finds ids that name something else', () => {
  const other = message(1, 'run.claimed', { holder: 'h', epoch: 1 }, { id: 'journal.home.thread.x.run.r/c/0' });
  expect(problems([other])).toEqual(['1 its id names another subject']);
  expect(problems([{ ...claimed(1, 1), messageId: null }])).toEqual(['1 its message id is not its commit id']);
});

it('tells damage, foreign messages and newer programs apart', () => {
  const audit = new JournalAudit('JOURNAL');
  audit.add({ ...claimed(1, 1), data: new TextEncoder().encode('{') });
  audit.add({ ...claimed(2, 1), isCommit: false });
  expect(audit).toMatchObject({ commits: 0, foreign: 1, problems: [{ streamSeq: 1, what: 'damaged: not JSON' }] });
  expect(() => audit.add(message(3, 'run.claimed', {}, { v: 99 }))).toThrow(
    expect.objectContaining({ code: 'READMODEL_TOO_OLD' }),
  );
});
