import { limits } from '@rookery/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Draft } from '../draft.ts';
import { type LoopInput, MAX_DELTA_CHARS } from './loop.ts';
import { foldRun } from './state.ts';
import { breaches, itemsOf } from './testing/run-rules.ts';
import { type Action, anyScene, finished, PATIENCE_MS, play, settledScene, start, stored } from './testing/scenario.ts';

const text = (value: string): LoopInput => ({ type: 'text', text: value });
const call = (name: string, args = '{}', callId = name): LoopInput => ({
  type: 'tool_call',
  callId,
  name,
  arguments: args,
});
const toolEnds = (place = 0): Action => ({ type: 'tool_ends', place, outcome: 'ok' });
const steer = (clientRequestId: string, content: string): LoopInput => ({ type: 'steer', clientRequestId, content });

const eventsOf = (actions: readonly Action[]): Draft[] => play(actions).commits.flat();
const typesOf = (actions: readonly Action[]): string[] => eventsOf(actions).map((event) => event.type);
const messagesOf = (actions: readonly Action[]) =>
  itemsOf(eventsOf(actions))
    .filter((item) => item.kind === 'message')
    .map(({ role, status, content }) => ({ role, status, content }));

describe('a run', () => {
  it('claims, asks, streams, answers and settles', () => {
    expect(typesOf([start, text('Hello'), text(' there'), finished])).toEqual([
      'run.claimed',
      'run.state_changed',
      'model.input_prepared',
      'item.started',
      'item.delta',
      'item.delta',
      'item.completed',
      'model.response_finished',
      'run.settled',
    ]);
  });

  it('shows its first words at once and gathers the next ones', () => {
    const scene = play([start, text('a'), text('b'), text('c')]);
    expect(scene.commits.flat().filter((event) => event.type === 'item.delta')).toHaveLength(1);
    expect(scene.effects.filter((effect) => effect.type === 'schedule_flush')).toHaveLength(1);
    const later = typesOf([start, text('a'), text('b'), text('c'), { type: 'flush' }]);
    expect(later.filter((type) => type === 'item.delta')).toHaveLength(2);
  });

  it('writes gathered text once it is long enough', () => {
    const deltas = (chars: number) =>
      typesOf([start, text('a'), text('x'.repeat(chars))]).filter((type) => type === 'item.delta').length;
    expect(deltas(limits.deltaChars - 1)).toBe(1);
    expect(deltas(limits.deltaChars)).toBe(2);
  });

  it('writes gathered text before a call, so that it is not held back while the arguments come', () => {
    const before = play([start, text('a'), text('b'), call('read')]).commits.flat();
    expect(before.at(-1)).toMatchObject({ type: 'item.delta', payload: { delta: 'b' } });
  });

  it('cuts a huge piece of text into deltas, never inside a character', () => {
    const huge = `${'x'.repeat(MAX_DELTA_CHARS - 1)}🐦${'y'.repeat(10)}`;
    const deltas = eventsOf([start, text(huge)]).flatMap((event) =>
      event.type === 'item.delta' ? [event.payload.delta] : [],
    );
    expect(deltas.map((delta) => delta.length)).toEqual([MAX_DELTA_CHARS - 1, 12]);
    expect(deltas.join('')).toBe(huge);
  });

  it('announces calls before it ends the answer, runs them and asks again', () => {
    const actions = [start, text('Look:'), call('read'), finished, toolEnds(), text('Done'), finished];
    expect(typesOf(actions).slice(3)).toEqual([
      'item.started',
      'item.delta',
      'item.completed',
      'item.started',
      'model.response_finished',
      'item.completed',
      'item.completed',
      'model.input_prepared',
      'item.started',
      'item.delta',
      'item.completed',
      'model.response_finished',
      'run.settled',
    ]);
  });

  it('tells the model of an unknown tool and of unreadable arguments instead of failing', () => {
    const scene = play([start, call('teleport'), call('read', '{"broken'), call('grep', '[]'), finished]);
    const results = itemsOf(scene.commits.flat()).filter((item) => item.kind === 'tool_result');
    const codes = results.map((item) => JSON.parse(String(item.content)).errorCode);
    expect(codes).toEqual(['unknown_tool', 'invalid_arguments', 'invalid_arguments']);
    expect(scene.trace).toEqual([]);
    expect(scene.transcripts).toHaveLength(2);
  });

  it('shows a steer to the next model call', () => {
    const scene = play([start, call('read'), finished, steer('s1', 'Use tabs'), toolEnds()]);
    expect(scene.transcripts[1]?.at(-1)).toMatchObject({ role: 'user', status: 'completed', content: 'Use tabs' });
  });

  it('goes on instead of settling where a steer came during the last answer', () => {
    const scene = play([start, text('Done'), steer('s1', 'One more'), finished]);
    expect(scene.state.run.status).toBe('running');
    expect(scene.transcripts[1]?.map((item) => item.content)).toEqual(['Done', 'One more']);
  });

  it('takes the same steer once', () => {
    expect(typesOf([start, steer('s1', 'x'), steer('s1', 'x')]).filter((type) => type === 'run.steered')).toHaveLength(
      1,
    );
  });

  it('keeps partial text and names unseen steers when it is cancelled', () => {
    const actions = [start, text('Half an'), text(' answer'), steer('s1', 'Wait'), { type: 'cancel' } as const];
    expect(messagesOf(actions)).toEqual([
      { role: 'assistant', status: 'cancelled', content: 'Half an answer' },
      { role: 'user', status: 'cancelled', content: 'Wait' },
    ]);
    const events = eventsOf(actions);
    expect(events.at(-2)).toMatchObject({ type: 'run.steers_left', payload: { steers: [{ content: 'Wait' }] } });
    expect(events.at(-1)).toMatchObject({
      type: 'run.settled',
      payload: { status: 'cancelled', reasonCode: 'cancelled' },
    });
  });

  it('fails with the reason of its provider', () => {
    const failed: LoopInput = { type: 'model_failed', reasonCode: 'provider_timeout', requestId: null };
    expect(eventsOf([start, failed]).at(-1)).toMatchObject({
      payload: { status: 'failed', reasonCode: 'provider_timeout' },
    });
  });

  it('is failed by an interruption', () => {
    expect(eventsOf([start, { type: 'interrupt' }]).at(-1)).toMatchObject({
      payload: { status: 'failed', reasonCode: 'runtime_interrupted' },
    });
  });

  it('takes nothing before it is claimed and nothing once it is settled', () => {
    expect(eventsOf([text('early'), finished, { type: 'cancel' }])).toEqual([]);
    const done = [start, text('Done'), finished];
    const late: Action[] = [text('late'), steer('s1', 'late'), { type: 'cancel' }, start];
    expect(eventsOf([...done, ...late])).toEqual(eventsOf(done));
  });

  it('takes nothing from a model that it has not asked', () => {
    const working = [start, call('read'), finished];
    expect(eventsOf([...working, text('late'), call('write'), finished])).toEqual(eventsOf(working));
  });
});

describe('whatever comes, in whatever order', () => {
  it(
    'the events of a run keep all its rules',
    () => {
      fc.assert(
        fc.property(settledScene, (actions) => {
          expect(breaches(eventsOf(actions))).toEqual([]);
        }),
      );
    },
    PATIENCE_MS,
  );

  it(
    'a stored run folds to the state of the live one',
    () => {
      fc.assert(
        fc.property(anyScene, (actions) => {
          const scene = play(actions);
          expect(foldRun(stored(scene.commits))).toEqual(JSON.parse(JSON.stringify(scene.state.run)));
        }),
      );
    },
    PATIENCE_MS,
  );

  it(
    'a writer runs alone, and nothing overtakes one that waits',
    () => {
      fc.assert(
        fc.property(anyScene, (actions) => {
          const { trace } = play(actions);
          for (const [index, one] of trace.entries()) {
            for (const other of trace.slice(index + 1)) {
              const together = one.ended === null || other.began < one.ended;
              expect(together && (one.writes || other.writes)).toBe(false);
              const sameStep = one.item.data.stepId === other.item.data.stepId;
              if (sameStep) expect(one.item.ordinal).toBeLessThan(other.item.ordinal);
            }
          }
        }),
      );
    },
    PATIENCE_MS,
  );

  it(
    'every call that is let through is run once',
    () => {
      fc.assert(
        fc.property(anyScene, (actions) => {
          const ids = play(actions).trace.map((entry) => entry.item.id);
          expect(new Set(ids).size).toBe(ids.length);
        }),
      );
    },
    PATIENCE_MS,
  );
});
