import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Commit, StoredCommit } from './envelope.ts';
import { conversationEventTypes, isConversationEvent } from './events.ts';
import type { Item } from './records.ts';
import { matchesFilter, presentItem, toWireEvents, WIRE_SCHEMA_VERSION } from './wire.ts';

const at = '2026-01-01T00:00:00.000Z';
const item: Item = {
  id: 'i',
  turnId: 'u',
  runId: 'r',
  ordinal: 3,
  kind: 'tool_result',
  role: 'tool',
  status: 'completed',
  content: '{"ok":true,"output":"text"}',
  data: { callId: 'c' },
  createdAt: at,
  updatedAt: at,
};
const keys = [
  'seq',
  'schemaVersion',
  'type',
  'threadId',
  'branchId',
  'turnId',
  'runId',
  'itemId',
  'timestamp',
  'payload',
];
const storedCommit = (commit: Partial<Commit>, subject = 'journal.home.thread.t1.run.r1'): StoredCommit => ({
  streamSeq: 5,
  subject,
  commit: { v: 1, id: 'c', cause: 'c', at, by: 'agent/h', agentId: 'main', events: [], ...commit },
});

describe('an item as clients see it', () => {
  it('carries the parsed result of a tool beside its content', () => {
    expect(presentItem(item)).toEqual({ ...item, data: { callId: 'c', result: { ok: true, output: 'text' } } });
    expect(item.data).toEqual({ callId: 'c' });
  });

  it('stays as it is where it is no result, no JSON, or not put back', () => {
    const blob = { blob: 'a'.repeat(64), bytes: 70_000, head: 'x' };
    for (const other of [
      { ...item, kind: 'message' as const },
      { ...item, content: '{broken' },
      { ...item, content: blob },
    ]) {
      expect(presentItem(other)).toBe(other);
    }
  });
});

describe('events on the wire', () => {
  it('have ten keys, a seq by their place in the commit, and the version of the document', () => {
    const events = [
      { type: 'run.claimed', payload: { holder: 'h', epoch: 1 } },
      { type: 'run.state_changed', payload: { status: 'running' } },
      { type: 'item.completed', itemId: 'i', payload: { item } },
    ];
    const [changed, completed, ...more] = toWireEvents(
      storedCommit({ branchId: 'b', turnId: 'u', runId: 'r', events }),
    );
    expect(more).toEqual([]);
    expect(WIRE_SCHEMA_VERSION).toBe(11);
    expect(changed).toEqual({
      seq: 5 * 1024 + 1,
      schemaVersion: 11,
      type: 'run.state_changed',
      threadId: 't1',
      branchId: 'b',
      turnId: 'u',
      runId: 'r',
      itemId: null,
      timestamp: at,
      payload: { status: 'running', turnId: 'u', runId: 'r' },
    });
    expect(completed).toMatchObject({ seq: 5 * 1024 + 2, itemId: 'i' });
    expect(completed?.payload).toEqual({ turnId: 'u', runId: 'r', itemId: 'i', item: presentItem(item) });
  });

  it('mirror an id in the payload exactly where it is there', () => {
    const id = fc.option(fc.constantFrom('a', 'b'), { nil: undefined });
    const type = fc.constantFrom(...conversationEventTypes, 'run.claimed', 'command.accepted');
    fc.assert(
      fc.property(id, id, id, fc.array(fc.tuple(type, id), { minLength: 1 }), (branchId, turnId, runId, list) => {
        const events = list.map(([name, itemId]) => ({
          type: name,
          payload: {},
          ...(itemId === undefined ? {} : { itemId }),
        }));
        const scope = { ...(branchId && { branchId }), ...(turnId && { turnId }), ...(runId && { runId }) };
        const wire = toWireEvents(storedCommit({ ...scope, events }));
        expect(wire.map((event) => event.type)).toEqual(list.map(([name]) => name).filter(isConversationEvent));
        for (const event of wire) {
          expect(Object.keys(event)).toEqual(keys);
          expect(event).toMatchObject({ branchId: branchId ?? null, turnId: turnId ?? null, runId: runId ?? null });
          for (const key of ['turnId', 'runId', 'itemId'] as const) {
            if (event[key] === null) expect(event.payload).not.toHaveProperty(key);
            else expect(event.payload[key]).toBe(event[key]);
          }
          expect(event.payload).not.toHaveProperty('branchId');
        }
        expect(wire.map((event) => event.seq)).toEqual([...wire.map((event) => event.seq)].sort((a, b) => a - b));
      }),
    );
  });

  it.each([
    'journal.config',
    'journal.canary',
    'journal.home.channel.webhook.ci.default',
    'memory.home.main.memory.m',
    'other',
  ])('are none for a commit on %s', (subject) => {
    expect(toWireEvents(storedCommit({ events: [{ type: 'thread.renamed', payload: {} }] }, subject))).toEqual([]);
  });
});

describe('a filter', () => {
  it('lets through the threads and types that it names, and never an internal event', () => {
    expect(matchesFilter('item.delta', 't1', null)).toBe(true);
    expect(matchesFilter('run.claimed', 't1', null)).toBe(false);
    expect(matchesFilter('run.claimed', 't1', { types: ['run.claimed'] })).toBe(false);
    expect(matchesFilter('item.delta', 't1', {})).toBe(true);
    expect(matchesFilter('item.delta', 't1', { threadIds: ['t2'] })).toBe(false);
    expect(matchesFilter('item.delta', null, { threadIds: ['t2'] })).toBe(false);
    expect(matchesFilter('item.delta', 't2', { threadIds: ['t1', 't2'] })).toBe(true);
    expect(matchesFilter('item.delta', 't2', { threadIds: ['t2'], types: ['run.settled'] })).toBe(false);
    expect(matchesFilter('run.settled', 't2', { threadIds: ['t2'], types: ['run.settled'] })).toBe(true);
  });
});
