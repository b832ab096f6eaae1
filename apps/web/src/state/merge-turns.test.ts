import { describe, expect, it } from 'vitest';
import type { TurnView } from '../wire/types.ts';
import { applyEvent } from './apply-event.ts';
import { mergeTurns } from './merge-turns.ts';
import { emptyJournal, type JournalState } from './model.ts';
import { events, threadId } from './trace.fixture.ts';

const whole = events.reduce(applyEvent, emptyJournal);

/** The page that a server standing at the first `count` events would send. */
function pageAt(count: number) {
  const state = events.slice(0, count).reduce(applyEvent, emptyJournal);
  const turns = (state.conversations[threadId]?.turns ?? []).map(({ asOf: _asOf, ...turn }) => ({
    ...turn,
    runs: turn.runs.map(({ processes: _p, fileChanges: _f, usage: _u, modelBusy: _m, ...run }) => run),
  })) as unknown as TurnView[];
  return { turns, nextCursor: null, hasMore: false, snapshotSeq: events[count - 1]?.seq ?? 0 };
}

const visible = (state: JournalState) =>
  state.conversations[threadId]?.turns.map((turn) => [
    turn.status,
    turn.runs.map((run) => [run.status, run.reasonCode, run.items, run.compactions, run.modelCalls]),
  ]);

describe('mergeTurns', () => {
  it('gives the same conversation wherever the page and the live stream meet', () => {
    for (let page = 1; page <= events.length; page += 1) {
      for (const live of [0, Math.floor(page / 2), page - 1, page, events.length]) {
        const recent = events.slice(0, live);
        const state = mergeTurns(emptyJournal, threadId, pageAt(page), recent);
        const after = events.slice(live).reduce(applyEvent, state);
        expect(visible(after), `page at ${page}, live at ${live}`).toEqual(visible(whole));
      }
    }
  });

  it('does not let an old page undo what live events have shown', () => {
    const state = mergeTurns(whole, threadId, pageAt(6), events);
    expect(visible(state)).toEqual(visible(whole));
  });

  it('puts an older page before the turns that are there', () => {
    const newest = pageAt(events.length);
    const first = mergeTurns(emptyJournal, threadId, { ...newest, turns: newest.turns.slice(1) }, []);
    const both = mergeTurns(first, threadId, { ...newest, turns: newest.turns.slice(0, 1) }, []);
    expect(both.conversations[threadId]?.turns.map((turn) => turn.ordinal)).toEqual([1, 2]);
  });

  it('shows a run that was under way before the page was opened', () => {
    expect(mergeTurns(emptyJournal, threadId, pageAt(5), []).activity[threadId]?.runId).toBe('run_a');
    expect(mergeTurns(emptyJournal, threadId, pageAt(events.length), []).activity[threadId]).toBeUndefined();
  });
});
