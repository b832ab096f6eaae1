import type { CommitEvent } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { evolveRun, foldRun, unclaimedRun } from './state.ts';
import { finished, play, start, stored } from './testing/scenario.ts';

const event = (type: string, payload: Record<string, unknown> = {}, itemId?: string): CommitEvent =>
  itemId === undefined ? { type, payload } : { type, payload, itemId };

describe('the state of a run', () => {
  it('is unclaimed before its first commit', () => {
    expect(foldRun([])).toEqual(unclaimedRun);
    expect(unclaimedRun).toMatchObject({ holder: null, epoch: 0, status: 'unclaimed', lastOrdinal: 1, stepOrdinal: 0 });
  });

  it('knows its holder and epoch', () => {
    expect(foldRun(stored(play([start]).commits))).toMatchObject({
      holder: 'host-0-boot',
      epoch: 1,
      status: 'running',
      modelCallOpen: true,
    });
  });

  it('holds the text of the message that is streamed', () => {
    const state = foldRun(stored(play([start, { type: 'text', text: 'Half' }]).commits));
    expect(state.streaming).toMatchObject({ text: 'Half', item: { ordinal: 2 } });
  });

  it('holds open calls until their results', () => {
    const call = { type: 'tool_call', callId: 'a', name: 'read', arguments: '{}' } as const;
    const open = play([start, call, finished]).commits;
    expect(foldRun(stored(open)).openCalls).toHaveLength(1);
    const done = play([start, call, finished, { type: 'tool_ends', place: 0, outcome: 'ok' }]).commits;
    const state = foldRun(stored(done));
    expect(state.openCalls).toEqual([]);
    expect(state.settledItems.map((item) => item.kind)).toEqual(['tool_call', 'tool_result']);
  });

  it('is settled by run.settled', () => {
    expect(foldRun(stored(play([start, { type: 'cancel' }]).commits)).status).toBe('cancelled');
  });

  it('ignores events of other kinds and deltas of other messages', () => {
    const before = foldRun(stored(play([start, { type: 'text', text: 'Half' }]).commits));
    expect(evolveRun(before, event('process.recorded'))).toBe(before);
    expect(evolveRun(before, event('item.delta', { delta: 'x' }, 'item_of_another'))).toBe(before);
  });
});
