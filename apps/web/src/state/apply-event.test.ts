import { conversationEventTypes } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { applyEvent } from './apply-event.ts';
import { emptyJournal, type JournalState } from './model.ts';
import { events, threadId } from './trace.fixture.ts';

const fold = (list = events, from: JournalState = emptyJournal) => list.reduce(applyEvent, from);
const upTo = (type: string, nth = 1) => {
  const indexes = events.flatMap((event, index) => (event.type === type ? [index] : []));
  return fold(events.slice(0, (indexes[nth - 1] ?? -1) + 1));
};
const runOf = (state: JournalState, turn: number) => state.conversations[threadId]?.turns[turn]?.runs[0];

describe('applyEvent', () => {
  it('is tried with every type of the conversation', () => {
    expect(new Set(events.map((event) => event.type))).toEqual(new Set(conversationEventTypes));
  });

  it('folds a trace into the thread and its turns', () => {
    const state = fold();
    expect(state.threads[threadId]).toMatchObject({ title: 'Notes', archivedAt: null });
    expect(state.conversations[threadId]?.turns.map(({ ordinal, status }) => [ordinal, status])).toEqual([
      [1, 'completed'],
      [2, 'failed'],
    ]);
    const run = runOf(state, 0);
    expect(run?.items.map((item) => [item.ordinal, item.kind, item.status, item.content])).toEqual([
      [1, 'message', 'completed', 'Write the notes,\nplease'],
      [2, 'tool_call', 'completed', ''],
      [3, 'tool_result', 'completed', '{}'],
      [4, 'message', 'completed', 'and soon'],
      [5, 'message', 'completed', 'Done, it is written.'],
    ]);
    expect(run).toMatchObject({ modelCalls: 2, compactions: 1, modelBusy: false, reasonCode: null });
    expect(run?.usage?.totalTokens).toBe(330);
    expect(run?.processes.item_a_2?.state).toBe('running');
    expect(run?.fileChanges.item_a_2?.path).toBe('notes.txt');
    expect(runOf(state, 1)?.reasonCode).toBe('provider_timeout');
  });

  it('shows a text as far as its deltas have come', () => {
    expect(runOf(upTo('item.delta', 2), 0)?.items.at(-1)).toMatchObject({
      status: 'streaming',
      content: 'Done, it is',
    });
  });

  it('shows that a thread is archived', () => {
    expect(upTo('thread.archived').threads[threadId]?.archivedAt).not.toBeNull();
  });

  it('knows the run of a thread from queued to settled', () => {
    expect(upTo('item.completed').activity[threadId]).toEqual({ runId: 'run_a', status: 'queued' });
    expect(upTo('run.state_changed', 2).activity[threadId]).toEqual({ runId: 'run_a', status: 'running' });
    expect(upTo('item.delta').activity[threadId]?.status).toBe('running');
    expect(upTo('run.settled').activity[threadId]).toBeUndefined();
  });

  it('knows that a run is alive from any of its events when its thread is not loaded', () => {
    const delta = events.filter((event) => event.type === 'item.delta').slice(0, 1);
    expect(fold(delta).activity[threadId]).toEqual({ runId: 'run_a', status: 'running' });
  });

  it('remembers the first words of a thread and which requests were stored', () => {
    const state = fold();
    expect(state.openings[threadId]).toBe('Write the notes,');
    expect([...state.stored]).toEqual(['request_a', 'steer_1', 'request_b']);
  });

  it('changes nothing by an event that was applied before', () => {
    const state = fold();
    const { turns } = state.conversations[threadId] ?? {};
    expect(fold(events, state).conversations[threadId]?.turns).toEqual(turns);
  });

  it('changes nothing by a type that it does not know', () => {
    const [first] = events;
    if (!first) throw new Error('the trace is empty');
    const state = fold();
    expect(applyEvent(state, { ...first, type: 'goal.reached' })).toBe(state);
  });

  it('leaves turns that do not change as they are, so that they are not rendered again', () => {
    const before = upTo('run.settled');
    const after = fold(events.slice(events.findIndex((event) => event.type === 'thread.renamed')), before);
    expect(after.conversations[threadId]?.turns[0]).toBe(before.conversations[threadId]?.turns[0]);
  });
});
