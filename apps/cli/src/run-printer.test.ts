import type { WireEvent } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { plain, printRun } from './run-printer.ts';

const event = (type: string, payload: Record<string, unknown>, itemId: string | null = null): WireEvent => ({
  seq: 1,
  schemaVersion: 11,
  type,
  threadId: 't',
  branchId: 'b',
  turnId: 'u',
  runId: 'run',
  itemId,
  timestamp: '2026-01-01T00:00:00.000Z',
  payload,
});
const message = (content: string) => ({
  id: 'i',
  kind: 'message',
  role: 'assistant',
  status: 'completed',
  content,
  data: {},
});

function printed(events: WireEvent[]) {
  let out = '';
  let err = '';
  const printer = printRun('run', {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
  });
  for (const one of events) printer.event(one);
  return { out, err, end: printer.settled() };
}

it('streams deltas once and adds what none carried', () => {
  const { out } = printed([
    event('item.delta', { delta: 'Hel' }, 'i'),
    event('item.delta', { delta: 'lo' }, 'i'),
    event('item.completed', { item: message('Hello world') }, 'i'),
  ]);
  expect(out).toBe('Hello world\n');
});

it('shows tool calls beside the answer and the end', () => {
  const { out, err, end } = printed([
    event('item.started', {
      item: { id: 'c', kind: 'tool_call', data: { toolName: 'read', arguments: { filePath: 'a' } } },
    }),
    event('item.completed', {
      item: {
        id: 'r',
        kind: 'tool_result',
        data: { result: { ok: false, output: 'x\u001b[2J\ny', errorCode: 'file_not_found' } },
        createdAt: '2026-01-01T00:00:00.000Z',
        updatedAt: '2026-01-01T00:00:00.012Z',
      },
    }),
    event('run.settled', { status: 'failed', settledAt: '', reasonCode: 'provider_timeout' }),
  ]);
  expect(out).toBe('');
  expect(err).toBe('→ read {"filePath":"a"}\n  ✗ file_not_found x[2J y (12 ms)\n');
  expect(end).toEqual({ status: 'failed', reasonCode: 'provider_timeout' });
});

it('leaves other runs and control characters out', () => {
  expect(printed([{ ...event('item.delta', { delta: 'x' }, 'i'), runId: 'other' }]).out).toBe('');
  expect(plain('a\u001b]0;t\u0007\tb\nc\r')).toBe('a]0;t\tb\nc');
});
