import { expect, it } from 'vitest';
import type { ProcessPage, ProcessRecord } from '../wire/types.ts';
import { processView } from './process-view.ts';

const record = (change: Partial<ProcessRecord>): ProcessRecord => ({
  processId: 'p',
  threadId: 't',
  runId: 'r',
  stepOrdinal: 1,
  itemId: 'i',
  command: 'sleep 1; echo done',
  cwd: '/',
  state: 'running',
  exitCode: null,
  pid: 1,
  startedAt: null,
  finishedAt: null,
  output: '',
  truncated: false,
  errorCode: null,
  background: true,
  ...change,
});
const page = (change: Partial<ProcessPage>): ProcessPage => ({
  ...record({}),
  cursor: 0,
  nextCursor: 0,
  hasMore: false,
  ...change,
});

it('shows the end of a command that was told after its output was loaded', () => {
  const before = record({ output: 'one\n' });
  const loaded = { text: 'one\n', page: page({ output: 'one\n' }), record: before };
  expect(processView(loaded, before, null)).toMatchObject({ state: 'running', text: 'one\n' });
  const after = record({ state: 'exited', exitCode: 3, output: 'one\ndone\n' });
  expect(processView(loaded, after, null)).toEqual({
    state: 'exited',
    text: 'one\ndone\n',
    exitCode: 3,
    errorCode: null,
  });
});

it('shows more output of a command that goes on', () => {
  const loaded = { text: 'one\n', page: page({}), record: record({ output: 'one\n' }) };
  expect(processView(loaded, record({ output: 'one\ntwo\n' }), null)).toMatchObject({
    state: 'running',
    text: 'one\ntwo\n',
  });
});

it('keeps an end and a whole output that were loaded, whatever an older or cut record says', () => {
  const known = record({ output: 'tail', truncated: true });
  const loaded = { text: 'whole and tail', page: page({ state: 'terminated', exitCode: 1 }), record: known };
  expect(processView(loaded, known, null)).toMatchObject({ state: 'terminated', text: 'whole and tail', exitCode: 1 });
  const late = record({ output: 'tail', truncated: true });
  expect(processView(loaded, late, null)).toMatchObject({ state: 'terminated', text: 'whole and tail', exitCode: 1 });
});
