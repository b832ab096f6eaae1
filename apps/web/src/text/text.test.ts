import { describe, expect, it } from 'vitest';
import type { Item } from '../wire/types.ts';
import { formatAgo } from './ago.ts';
import { plainTerminalText } from './ansi.ts';
import { formatDuration, formatRunning, spanMs } from './duration.ts';
import { safeUrl } from './safe-url.ts';
import { readToolCall, readToolResult } from './tool-call.ts';

const item = (data: Record<string, unknown>, content = ''): Item => ({
  id: 'item_1',
  turnId: 'turn_1',
  runId: 'run_1',
  ordinal: 1,
  kind: 'tool_call',
  role: null,
  status: 'completed',
  content,
  data,
  createdAt: '2026-11-30T12:00:00.000Z',
  updatedAt: '2026-11-30T12:00:00.000Z',
});

describe('plainTerminalText', () => {
  it('takes colours, titles and links out', () => {
    expect(
      plainTerminalText('\u001b[1;32mok\u001b[0m \u001b]0;title\u0007\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\'),
    ).toBe('ok link');
  });

  it('shows a redrawn line as it was last', () => {
    expect(plainTerminalText('10 %\r50 %\r100 %\r\ndone\r\n')).toBe('100 %\ndone\n');
  });

  it('leaves no control characters but tab and line feed', () => {
    const text = plainTerminalText(`${String.fromCharCode(...Array(160).keys())}\u001b`);
    const control = [...text].filter((char) => /\p{Cc}/u.test(char));
    expect(control).toEqual(['\t', '\n']);
  });
});

describe('safeUrl', () => {
  it('follows only http, https and mailto', () => {
    expect(safeUrl('https://example.org/a')).toBe('https://example.org/a');
    expect(safeUrl('mailto:ada@example.org')).toBe('mailto:ada@example.org');
    for (const url of [
      'javascript:alert(1)',
      ' JaVaScRiPt:alert(1)',
      'data:text/html,x',
      'file:///etc/passwd',
      '/x',
      '',
    ]) {
      expect(safeUrl(url), url).toBeUndefined();
    }
  });
});

describe('durations', () => {
  it('are short and keep their place', () => {
    expect([0, 420, 3250, 41_900, 125_000, 3_780_000].map(formatDuration)).toEqual([
      '0 ms',
      '420 ms',
      '3.2 s',
      '41 s',
      '2 m 05 s',
      '1 h 03 m',
    ]);
    expect([-50, 900, 59_999, 61_000].map(formatRunning)).toEqual(['0 s', '0 s', '59 s', '1 m 01 s']);
  });

  it('are unknown where a time is missing, and never negative', () => {
    expect(spanMs(null, '2026-11-30T12:00:00.000Z')).toBeNull();
    expect(spanMs('2026-11-30T12:00:01.000Z', '2026-11-30T12:00:00.000Z')).toBe(0);
  });

  it('say how long ago something was', () => {
    const now = Date.parse('2026-11-30T12:00:00.000Z');
    expect(formatAgo('2026-11-30T11:59:30.000Z', now, 'en')).toBeNull();
    expect(formatAgo('2026-11-30T09:00:00.000Z', now, 'en')).toBe('3h ago');
    expect(formatAgo('2026-10-30T12:00:00.000Z', now, 'en')).toBe('Oct 30');
  });
});

describe('tool calls', () => {
  it('are summed up by their telling argument', () => {
    expect(readToolCall(item({ toolName: 'process_start', arguments: { cwd: '/', command: 'a\n  b' } }))).toMatchObject(
      {
        name: 'process_start',
        summary: 'a b',
      },
    );
  });

  it('are read from whatever a model sent', () => {
    expect(readToolCall(item({ arguments: 'not json' }))).toEqual({ name: 'tool', arguments: {}, summary: '' });
    expect(readToolCall(item({ toolName: 'x', arguments: [1] })).arguments).toEqual({});
    expect(readToolResult(item({}, 'plain'))).toMatchObject({ output: 'plain', ok: null, processId: null });
  });

  it('have results with details beside the output or in a record of their own', () => {
    const beside = { ok: false, output: 'x', errorCode: 'no_match', exitCode: 2, durationMs: 5 };
    expect(readToolResult(item({ result: beside }))).toMatchObject({ ok: false, errorCode: 'no_match', exitCode: 2 });
    const inside = { ok: true, output: 'x', details: { processId: 'process_1', state: 'running', truncated: true } };
    expect(readToolResult(item({}, JSON.stringify(inside)))).toMatchObject({ processId: 'process_1', truncated: true });
  });
});
