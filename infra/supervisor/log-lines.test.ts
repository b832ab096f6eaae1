import { expect, it } from 'vitest';
import { LineSplitter, noteworthy } from './log-lines.ts';

it('cuts text into whole lines', () => {
  const lines = new LineSplitter();
  expect(lines.push('one\ntw')).toEqual(['one']);
  expect(lines.push('o\n\nthree')).toEqual(['two']);
  expect(lines.flush()).toEqual(['three']);
  expect(lines.flush()).toEqual([]);
});

it.each([
  [{ level: 30, msg: 'listening' }, null],
  [{ level: 40, msg: 'slow' }, 'slow'],
  [{ level: 50, msg: 'stopped', code: 'PORT_IN_USE' }, 'PORT_IN_USE: stopped'],
  [{ level: 60, msg: 'died', err: { code: 'INTERNAL', message: 'because' } }, 'INTERNAL: died: because'],
])('shows of %j: %s', (record, expected) => {
  expect(noteworthy(JSON.stringify(record))).toBe(expected);
});

it('shows what is no log line at all, cut', () => {
  expect(noteworthy('Error: cannot find module')).toBe('Error: cannot find module');
  expect(noteworthy('x'.repeat(900))).toHaveLength(500);
});
