import type { Item } from '@rookery/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { settleRun } from './settle.ts';
import { foldRun } from './state.ts';
import { itemsOf } from './testing/run-rules.ts';
import {
  type Action,
  anyScene,
  context,
  finished,
  PATIENCE_MS,
  play,
  start,
  stored,
  timeAt,
} from './testing/scenario.ts';
import { type ModelMessage, toMessages } from './transcript.ts';

const item = (ordinal: number, fields: Partial<Item>): Item => ({
  id: `item_${ordinal}`,
  turnId: 'turn_1',
  runId: 'run_1',
  ordinal,
  kind: 'message',
  role: 'user',
  status: 'completed',
  content: '',
  data: {},
  createdAt: timeAt(0),
  updatedAt: timeAt(0),
  ...fields,
});
const user = (ordinal: number, content: string, data: Item['data'] = {}) => item(ordinal, { content, data });
const assistant = (ordinal: number, content: string, stepId = 's1') =>
  item(ordinal, { role: 'assistant', content, data: { stepId } });
const call = (ordinal: number, callId: string, stepId = 's1') =>
  item(ordinal, {
    kind: 'tool_call',
    role: 'assistant',
    data: { stepId, callId, toolName: 'read', arguments: { a: 1 } },
  });
const result = (ordinal: number, callId: string, details: object = {}, stepId = 's1') =>
  item(ordinal, {
    kind: 'tool_result',
    role: 'tool',
    content: JSON.stringify({
      toolCallId: callId,
      toolName: 'read',
      ok: true,
      output: 'text',
      cancelled: false,
      ...details,
    }),
    data: { stepId, callId, toolName: 'read' },
  });

/** What a strict provider refuses; null where it accepts. */
function refusal(messages: readonly ModelMessage[]): string | null {
  for (let at = 0; at < messages.length; ) {
    const message = messages[at];
    at += 1;
    if (message === undefined || message.role === 'tool') return 'a result without its call';
    if (message.role !== 'assistant') {
      if (message.content === '') return 'an empty message';
      continue;
    }
    const calls = message.tool_calls ?? [];
    if (message.tool_calls?.length === 0) return 'an empty list of calls';
    if (calls.length === 0 && (message.content ?? '') === '') return 'an empty answer';
    if (new Set(calls.map(({ id }) => id)).size !== calls.length) return 'an id twice';
    for (const { id } of calls) {
      const answer = messages[at];
      at += 1;
      if (answer?.role !== 'tool' || answer.tool_call_id !== id) return `call ${id} is not followed by its result`;
    }
  }
  return null;
}

const roles = (items: readonly Item[]): string[] => toMessages(items).map((message) => message.role);

describe('messages for a model', () => {
  const plainResult = '{"ok":true,"output":"text","cancelled":false}';

  it('put the calls of an answer beside its text and the results behind it', () => {
    expect(
      toMessages([user(1, 'Hi'), assistant(2, 'Look:'), call(3, 'a'), call(4, 'b'), result(5, 'a'), result(6, 'b')]),
    ).toEqual([
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: 'Look:',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'read', arguments: '{"a":1}' } },
          { id: 'b', type: 'function', function: { name: 'read', arguments: '{"a":1}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: plainResult },
      { role: 'tool', tool_call_id: 'b', content: plainResult },
    ]);
  });

  it('show the model its own order of calls that ended in another', () => {
    const messages = toMessages([user(1, 'Hi'), call(3, 'b'), result(4, 'b'), call(2, 'a'), result(5, 'a')]);
    expect(
      messages.flatMap((message) => ('tool_calls' in message ? message.tool_calls?.map(({ id }) => id) : [])),
    ).toEqual(['a', 'b']);
    expect(refusal(messages)).toBeNull();
  });

  it('give a missing result the words that its effect is unknown', () => {
    const messages = toMessages([user(1, 'Hi'), call(2, 'a'), call(3, 'b'), result(4, 'b'), user(5, 'And?')]);
    expect(messages.map((message) => message.role)).toEqual(['user', 'assistant', 'tool', 'tool', 'user']);
    expect(String(messages[2]?.content)).toContain('effect_unknown');
    expect(messages[3]?.content).toBe(plainResult);
  });

  it('put a steer behind the results that it came before', () => {
    expect(roles([user(1, 'Hi'), call(2, 'a'), user(3, 'Wait'), result(4, 'a'), assistant(5, 'Yes', 's2')])).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
      'assistant',
    ]);
  });

  it('leave out a steer that became a turn of its own', () => {
    expect(roles([user(1, 'Hi'), user(2, 'Wait', { steer: true, status: 'unprocessed' })])).toEqual(['user']);
  });

  it('leave out an answer without words, and a result without its call', () => {
    expect(roles([user(1, 'Hi'), assistant(2, ''), result(3, 'a')])).toEqual(['user']);
  });

  it('keep calls with the same id of two answers apart', () => {
    const items = [
      user(1, 'Hi'),
      call(2, 'a', 's1'),
      result(3, 'a', { output: 'one' }, 's1'),
      call(4, 'a', 's2'),
      result(5, 'a', { output: 'two' }, 's2'),
    ];
    const results = toMessages(items).filter((message) => message.role === 'tool');
    expect(results.map((message) => JSON.parse(String(message.content)).output)).toEqual(['one', 'two']);
  });

  it('give a result as JSON, without what the message says already and without empty facts', () => {
    const [, , told] = toMessages([
      user(1, 'Hi'),
      call(2, 'a'),
      result(3, 'a', { ok: false, errorCode: 'no_match', nextOffset: null, truncated: false }),
    ]);
    expect(JSON.parse(String(told?.content))).toEqual({
      ok: false,
      output: 'text',
      cancelled: false,
      errorCode: 'no_match',
      truncated: false,
    });
  });

  it('take a content that is no result as it is', () => {
    const broken = { ...result(3, 'a'), content: 'not JSON' };
    expect(toMessages([user(1, 'Hi'), call(2, 'a'), broken])[2]?.content).toBe('not JSON');
  });

  it('use the head of a text that was not put back', () => {
    const content = { blob: 'a'.repeat(64), bytes: 70_000, head: 'The beginning' };
    expect(toMessages([item(1, { content })])).toEqual([{ role: 'user', content: 'The beginning' }]);
  });

  it(
    'are valid for a strict provider whatever was cut, in either order',
    () => {
      const call2: Action = { type: 'tool_call', callId: 'x', name: 'read', arguments: '{}' };
      fc.assert(
        fc.property(anyScene, fc.nat(), (actions, at) => {
          const { commits } = play(actions);
          const left = commits.slice(0, at % (commits.length + 1));
          const state = foldRun(stored(left));
          const ended = settleRun(
            state,
            { status: 'failed', reasonCode: 'runtime_interrupted' },
            { ...context, now: timeAt(1000) },
          );
          const events = state.status === 'running' ? [...left.flat(), ...ended] : left.flat();
          const later = itemsOf(play([start, { type: 'text', text: 'More' }, call2, finished]).commits.flat());
          for (const items of [itemsOf(events), state.settledItems]) {
            const history = [
              user(1, 'Hi'),
              ...items,
              user(1, 'And?'),
              ...later.map((each) => ({ ...each, data: { ...each.data, stepId: 'later' } })),
            ];
            const messages = toMessages(history);
            expect(refusal(messages)).toBeNull();
            expect(messages.filter((message) => message.content === 'And?')).toHaveLength(1);
          }
        }),
      );
    },
    PATIENCE_MS,
  );

  it(
    'are valid in every prompt that a run makes of itself',
    () => {
      fc.assert(
        fc.property(anyScene, (actions) => {
          for (const transcript of play(actions).transcripts)
            expect(refusal(toMessages([user(1, 'Hi'), ...transcript]))).toBeNull();
        }),
      );
    },
    PATIENCE_MS,
  );

  it(
    'are valid where any items at all were lost',
    () => {
      fc.assert(
        fc.property(anyScene, fc.infiniteStream(fc.boolean()), (actions, keep) => {
          const items = itemsOf(play(actions).commits.flat()).filter(() => keep.next().value);
          expect(refusal(toMessages(items))).toBeNull();
        }),
      );
    },
    PATIENCE_MS,
  );
});
