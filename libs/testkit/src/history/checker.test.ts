import type { WireEvent } from '@rookery/protocol';
import { beforeEach, expect, it } from 'vitest';
import { type CheckedHistory, checkHistory } from './checker.ts';
import type { RawMessage } from './read-stream.ts';
import type { Operation } from './recorder.ts';

const turns = 'journal.home.thread.thread_1.turns';
const run = 'journal.home.thread.thread_1.run.run_1';
const at = '2026-01-01T00:00:00.000Z';
type Event = { type: string; itemId?: string; payload: Record<string, unknown> };

let journal: RawMessage[] = [];

function message(streamSeq: number, subject: string, events: Event[], scope: object = {}): RawMessage {
  const id = `${subject}/command/${streamSeq}`;
  const text = JSON.stringify({ v: 1, id, cause: 'command', at, by: 'b', agentId: 'main', ...scope, events });
  return { streamSeq, subject, text, headers: { 'Nats-Msg-Id': id, 'Rookery-Commit': '1' } };
}
const submission = (runId: string): Event[] => [
  {
    type: 'item.completed',
    itemId: 'item_1',
    payload: { run: { id: runId }, item: { id: 'item_1', kind: 'message', role: 'user' } },
  },
];
const claim: Event = { type: 'run.claimed', payload: { holder: 'h', epoch: 1 } };
const settled: Event = { type: 'run.settled', payload: { status: 'completed', settledAt: at } };
const delta = (text: string): Event => ({ type: 'item.delta', itemId: 'item_2', payload: { delta: text } });
const answer = (content: string): Event => ({
  type: 'item.completed',
  itemId: 'item_2',
  payload: { item: { id: 'item_2', kind: 'message', role: 'assistant', content, data: {} } },
});

const scope = { branchId: 'b', turnId: 't', runId: 'run_1' };
beforeEach(() => {
  journal = [
    message(1, turns, submission('run_1'), scope),
    message(2, run, [claim, { type: 'run.state_changed', payload: { status: 'running' } }], scope),
    message(4, run, [delta('Hel'), delta('lo')], scope),
    { streamSeq: 5, subject: turns, text: 'foreign', headers: {} },
    message(6, run, [answer('Hello'), settled], scope),
  ];
});

/** What a client of protocol 13 sees of the journal above, written by hand. */
function clientEvents(): WireEvent[] {
  const base = { schemaVersion: 11, threadId: 'thread_1', branchId: 'b', turnId: 't', runId: 'run_1', timestamp: at };
  const mirrors = { turnId: 't', runId: 'run_1' };
  const event = (seq: number, prevSeq: number, type: string, itemId: string | null, payload: object): WireEvent => ({
    seq,
    prevSeq,
    ...base,
    type,
    itemId,
    payload: { ...mirrors, ...(itemId === null ? {} : { itemId }), ...payload },
  });
  return [
    event(1024, 0, 'item.completed', 'item_1', submission('run_1')[0]?.payload ?? {}),
    event(2049, 1024, 'run.state_changed', null, { status: 'running' }),
    event(4096, 2049, 'item.delta', 'item_2', { delta: 'Hel' }),
    event(4097, 4096, 'item.delta', 'item_2', { delta: 'lo' }),
    event(6144, 4097, 'item.completed', 'item_2', answer('Hello').payload),
    event(6145, 6144, 'run.settled', null, { status: 'completed', settledAt: at }),
  ];
}
const operation = (outcome: Operation['outcome'], runId = 'run_1'): Operation => ({
  name: 'turn.start',
  fact: { stream: 'JOURNAL', type: 'item.completed', where: { 'run.id': runId } },
  outcome,
});
const rules = (history: Omit<CheckedHistory, 'journal'> = {}) => [
  ...new Set(checkHistory({ journal, ...history }).map(({ rule }) => rule)),
];

it('finds nothing wrong in a history where nothing is', () => {
  const digests = { name: 'gateway', live: { turns: 'a' }, rebuilt: { turns: 'a' } };
  expect(
    checkHistory({
      journal,
      operations: [operation('unknown'), operation('ok'), operation('failed', 'run_9'), operation('unknown', 'run_8')],
      clients: [
        { name: 'all', events: clientEvents() },
        { name: 'late', events: clientEvents().slice(2), afterSeq: 2049 },
        { name: 'cut', events: clientEvents().slice(0, 3), complete: false },
      ],
      readModelDigests: [digests],
      effects: ['a', 'b'],
    }),
  ).toEqual([]);
});

it('finds a doubled commit', () => {
  journal.push({ ...message(7, run, [settled]), text: journal[2]?.text ?? '', headers: journal[2]?.headers ?? {} });
  expect(rules()).toContain('commit-once');
});

it('finds a run that is settled twice, goes on after its end, or never ends', () => {
  journal.push(message(7, run, [settled], scope));
  expect(rules()).toEqual(['closed', 'settled-once']);
  journal = journal.slice(0, 4);
  expect(rules()).toEqual(['settled-once']);
  expect(rules({ rules: { allSettled: false } })).toEqual([]);
});

it('finds two settles in one commit', () => {
  journal[4] = message(6, run, [answer('Hello'), settled, settled], scope);
  expect(rules()).toEqual(['settled-once']);
});

it('finds a second claim of the same epoch and work without a claim', () => {
  journal.splice(2, 0, message(3, run, [claim], scope));
  expect(rules()).toEqual(['claim']);
  journal = journal.filter(({ streamSeq }) => streamSeq !== 2 && streamSeq !== 3);
  expect(rules()).toEqual(['claim']);
});

it('finds a turn that started before the one before it had ended, and one submitted twice', () => {
  const second = 'journal.home.thread.thread_1.run.run_2';
  journal.splice(3, 0, message(4.5, turns, submission('run_2')), message(4.6, second, [claim]));
  journal.push(message(8, second, [settled]));
  expect(rules()).toEqual(['one-run-a-thread']);
  journal.push(message(9, turns, submission('run_1')));
  expect(rules()).toContain('submitted-once');
});

it('finds text that is not the sum of its deltas, and a tool call with no result or two', () => {
  journal[4] = message(6, run, [answer('Hello!'), settled], scope);
  expect(rules()).toEqual(['deltas']);
  const call: Event = {
    type: 'item.started',
    itemId: 'c',
    payload: { item: { id: 'c', kind: 'tool_call', data: {} } },
  };
  const result: Event = {
    type: 'item.completed',
    payload: { item: { id: 'r', kind: 'tool_result', data: { toolCallItemId: 'c' } } },
  };
  for (const [events, expected] of [
    [[call, result], []],
    [[call], ['result-once']],
    [[call, result, result], ['result-once']],
  ] as const) {
    journal[4] = message(6, run, [...events, answer('Hello'), settled], scope);
    expect(rules()).toEqual(expected);
  }
});

it('finds an acknowledged operation that is not stored, a refused one that is, and one stored twice', () => {
  expect(rules({ operations: [operation('ok', 'run_9')] })).toEqual(['acknowledged-stored']);
  expect(rules({ operations: [operation('failed')] })).toEqual(['refused-absent']);
  journal.push(message(7, turns, submission('run_1')));
  expect(rules({ operations: [operation('unknown')] })).toContain('stored-once');
});

it('finds a missing, repeated, changed or invented event of a client', () => {
  const events = clientEvents();
  const [first, second] = events;
  if (first === undefined || second === undefined) throw new Error('no events');
  const client = (changed: WireEvent[]) => rules({ clients: [{ name: 'c', events: changed }] });
  expect(client(events.filter(({ seq }) => seq !== 4096))).toEqual(['client-missing']);
  expect(client(events.slice(0, -1))).toEqual(['client-missing']);
  expect(client([first, ...events])).toEqual(['client-order']);
  expect(client([second, first, ...events.slice(2)])).toEqual(['client-order']);
  expect(client([{ ...first, payload: { ...first.payload, extra: 1 } }, ...events.slice(1)])).toEqual(['client-bytes']);
  expect(client([first, { ...second, prevSeq: 1 }, ...events.slice(2)])).toEqual(['client-prev']);
  expect(client([...events, { ...first, seq: 9000 }])).toEqual(['client-extra']);
});

it('finds a missing event in the journal that a client saw', () => {
  const events = clientEvents();
  journal = journal.filter(({ streamSeq }) => streamSeq !== 4);
  expect(rules({ clients: [{ name: 'c', events }] })).toContain('client-extra');
});

it('finds a wrong digest, a table that one side lacks, and an empty comparison', () => {
  const pair = (live: Record<string, string>, rebuilt: Record<string, string>) =>
    rules({ readModelDigests: [{ name: 'gateway', live, rebuilt }] });
  expect(pair({ turns: 'a' }, { turns: 'b' })).toEqual(['digest']);
  expect(pair({ turns: 'a', runs: 'c' }, { turns: 'a' })).toEqual(['digest']);
  expect(pair({}, {})).toEqual(['digest']);
});

it('finds a tool that ran twice', () => {
  expect(rules({ effects: ['call_1', 'call_2', 'call_1'] })).toEqual(['effect-once']);
});

it('finds wrong ids and time that runs back', () => {
  journal[2] = { ...(journal[2] as RawMessage), headers: { 'Rookery-Commit': '1', 'Nats-Msg-Id': 'other' } };
  expect(rules()).toEqual(['commit-id']);
  journal[2] = message(4, run, [delta('Hel'), delta('lo')], { ...scope, at: '2025-01-01T00:00:00.000Z' });
  expect(rules()).toEqual(['time']);
});
