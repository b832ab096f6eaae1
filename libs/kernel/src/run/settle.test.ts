import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Draft } from '../draft.ts';
import { settleRun } from './settle.ts';
import { foldRun, unclaimedRun } from './state.ts';
import { breaches, itemsOf } from './testing/run-rules.ts';
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

const interrupted = { status: 'failed', reasonCode: 'runtime_interrupted' } as const;
const settleContext = { ...context, now: timeAt(1000) };

/** What another agent appends for a holder that died after some of its commits. */
function settleAfter(commits: readonly Draft[][]): Draft[] {
  return settleRun(foldRun(stored(commits)), interrupted, settleContext);
}

const call = (name: string, callId: string): Action => ({ type: 'tool_call', callId, name, arguments: '{}' });

describe('settling for a holder that is gone', () => {
  it('cancels a run that nobody claimed with one event', () => {
    const events = settleRun(unclaimedRun, { status: 'cancelled', reasonCode: 'cancelled' }, settleContext);
    expect(events).toEqual([
      { type: 'run.settled', payload: { status: 'cancelled', settledAt: timeAt(1000), reasonCode: 'cancelled' } },
    ]);
  });

  it('keeps the text that was stored', () => {
    const { commits } = play([start, { type: 'text', text: 'Half an answer' }]);
    const [message] = itemsOf([...commits.flat(), ...settleAfter(commits)]);
    expect(message).toMatchObject({ content: 'Half an answer', status: 'failed' });
  });

  it('says of every open call that its effect is unknown', () => {
    const { commits } = play([start, call('read', 'a'), call('write', 'b'), finished]);
    const results = itemsOf([...commits.flat(), ...settleAfter(commits)]).filter((item) => item.kind === 'tool_result');
    const told = results.map((item) => JSON.parse(String(item.content)));
    expect(told.map(({ toolCallId, ok, errorCode }) => ({ toolCallId, ok, errorCode }))).toEqual([
      { toolCallId: 'a', ok: false, errorCode: 'effect_unknown' },
      { toolCallId: 'b', ok: false, errorCode: 'effect_unknown' },
    ]);
  });

  it('says of a cancelled call that it was cancelled', () => {
    const { commits } = play([start, call('read', 'a'), finished, { type: 'cancel' }]);
    const result = itemsOf(commits.flat()).find((item) => item.kind === 'tool_result');
    expect(result?.status).toBe('cancelled');
    expect(JSON.parse(String(result?.content))).toMatchObject({ cancelled: true, errorCode: 'cancelled' });
  });

  it('names the steers that no model call has seen, and no other', () => {
    const steer = (clientRequestId: string): Action => ({ type: 'steer', clientRequestId, content: clientRequestId });
    const { commits } = play([start, steer('seen'), { type: 'text', text: 'a' }, finished, steer('unseen')]);
    expect(settleAfter(commits)).toContainEqual({
      type: 'run.steers_left',
      payload: { steers: [{ itemId: expect.any(String), content: 'unseen' }] },
    });
  });

  it(
    'is a valid end after any of the stored commits',
    () => {
      fc.assert(
        fc.property(anyScene, fc.nat(), (actions, at) => {
          const { commits } = play(actions);
          const left = commits.slice(0, at % (commits.length + 1));
          if (foldRun(stored(left)).status !== 'running' && left.length > 0) return;
          expect(breaches([...left.flat(), ...settleAfter(left)])).toEqual([]);
        }),
      );
    },
    PATIENCE_MS,
  );

  it(
    'never loses a steer: each one was seen by a model call or is named at the end',
    () => {
      fc.assert(
        fc.property(anyScene, fc.nat(), (actions, at) => {
          const { commits } = play(actions);
          const left = commits.slice(0, at % (commits.length + 1));
          const settled = !['running', 'unclaimed'].includes(foldRun(stored(left)).status);
          const events = settled ? left.flat() : [...left.flat(), ...settleAfter(left)];
          const steered = events.flatMap((event) => (event.type === 'run.steered' ? [event.payload.item.id] : []));
          const named = events.flatMap((event) =>
            event.type === 'run.steers_left' ? event.payload.steers.map((steer) => steer.itemId) : [],
          );
          const processed = itemsOf(events)
            .filter((item) => item.data.status === 'processed')
            .map((item) => item.id);
          expect([...named, ...processed].sort()).toEqual([...steered].sort());
        }),
      );
    },
    PATIENCE_MS,
  );
});
