import { AppError, type StoredCommit, writerName } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { requireCurrentRun } from './run-fence.ts';

const claim = { world: 'home', threadId: 'thread_1', runId: 'run_1', holder: 'host-0-a', intentSeq: 7 };

function commit(streamSeq: number, by: string, type = 'item.started'): StoredCommit {
  const stored = { v: 1, id: 'x', cause: 'x', at: '2026-11-30T12:00:00.000Z', by, agentId: 'main' };
  return { streamSeq, subject: 'x', commit: { ...stored, events: [{ type, payload: {} }] } };
}

/** Answers one reading after the other, then the last one again. */
async function codeOf(readings: (StoredCommit | null)[], other: Partial<typeof claim> = {}): Promise<string> {
  const left = [...readings];
  const readLast = async () => (left.length > 1 ? left.shift() : left[0]) ?? null;
  return requireCurrentRun({ ...claim, ...other }, readLast, 200).then(
    () => 'ok',
    (error: unknown) => (error instanceof AppError ? error.code : String(error)),
  );
}

const own = writerName('agent', claim.holder);

it('admits the holder of a run that goes on', async () => {
  expect(await codeOf([commit(7, own)])).toBe('ok');
  expect(await codeOf([commit(9, own)])).toBe('ok');
});

it('refuses a run that is settled or held by another', async () => {
  expect(await codeOf([commit(8, own, 'run.settled')])).toBe('TOOL_STALE');
  expect(await codeOf([commit(8, writerName('agent', 'host-0-b'))])).toBe('TOOL_STALE');
  expect(await codeOf([commit(8, claim.holder)])).toBe('TOOL_STALE');
  expect(await codeOf([commit(8, writerName('channels', claim.holder))])).toBe('TOOL_STALE');
});

it('reads again where the reading is older than the intent', async () => {
  expect(await codeOf([null, commit(6, own), commit(7, own)])).toBe('ok');
  expect(await codeOf([commit(6, own), commit(8, own, 'run.settled')])).toBe('TOOL_STALE');
  expect(await codeOf([commit(6, own)])).toBe('TOOL_STALE');
});

it('refuses ids that are no part of a subject', async () => {
  expect(await codeOf([commit(7, own)], { runId: 'run.*' })).toBe('INVALID_PARAMS');
});
