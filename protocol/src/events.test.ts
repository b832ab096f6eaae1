import { describe, expect, it } from 'vitest';
import { checkEvent, conversationEventTypes, eventSchemas, isConversationEvent } from './events.ts';

const at = '2026-01-01T00:00:00.000Z';
const thread = {
  id: 't',
  title: null,
  defaultBranchId: 'b',
  workspace: null,
  createdAt: at,
  updatedAt: at,
  archivedAt: null,
};
const item = {
  id: 'i',
  turnId: 'u',
  runId: 'r',
  ordinal: 2,
  kind: 'message',
  role: 'assistant',
  status: 'streaming',
  content: '',
  data: {},
  createdAt: at,
  updatedAt: at,
};
const finished = {
  stepOrdinal: 1,
  providerId: 'p',
  modelId: 'm',
  outcome: 'completed',
  reasonCode: null,
  responseModelId: null,
  requestId: null,
  usage: null,
  activityDate: null,
  finishedAt: at,
};
const ok = (type: string, payload: unknown): boolean => checkEvent({ type, payload }).ok;

describe('events', () => {
  it('that leave the gateway are fifteen', () => {
    expect(conversationEventTypes).toEqual([
      'thread.created',
      'thread.renamed',
      'thread.archived',
      'thread.unarchived',
      'run.state_changed',
      'item.started',
      'item.delta',
      'item.completed',
      'file.change_recorded',
      'process.recorded',
      'model.input_prepared',
      'context.compacted',
      'model.response_finished',
      'run.settled',
      'run.steered',
    ]);
  });

  it('are named in the past tense with a dot, and the internal ones are none of the fifteen', () => {
    for (const type of Object.keys(eventSchemas)) expect(type).toMatch(/^[a-z]+\.[a-z_]+$/);
    for (const type of ['run.claimed', 'command.accepted', 'run.steers_left', 'toString'])
      expect(isConversationEvent(type)).toBe(false);
  });

  it.each<[string, Record<string, unknown>]>([
    [
      'thread.created',
      { thread, branch: { id: 'b', threadId: 't', createdAt: at, isDefault: true }, clientRequestId: 'c' },
    ],
    ['thread.renamed', { thread }],
    ['run.state_changed', { status: 'queued' }],
    ['item.started', { item }],
    ['item.delta', { delta: 'x' }],
    ['item.completed', { item }],
    ['model.response_finished', finished],
    ['run.settled', { status: 'completed', settledAt: at }],
    ['run.steered', { content: 'x', clientRequestId: 'c', status: 'received', item }],
    ['run.claimed', { holder: 'h', epoch: 1 }],
    ['run.steers_left', { steers: [{ itemId: 'i', content: 'x' }] }],
    ['config.changed', { section: 'providers', keys: ['a'], revision: 1 }],
    ['canary.written', {}],
  ])('%s is taken with its exact keys', (type, payload) => {
    expect(checkEvent({ type, payload })).toMatchObject({ ok: true });
    expect(ok(type, { ...payload, more: 1 })).toBe(false);
    for (const key of Object.keys(payload)) {
      const { [key]: _left, ...rest } = payload;
      expect(ok(type, rest)).toBe(key === 'clientRequestId' && type === 'thread.created');
    }
  });

  it('of an unknown type are told from damaged ones', () => {
    expect(checkEvent({ type: 'thread.exploded', payload: {} })).toMatchObject({ ok: false, unknown: true });
    expect(checkEvent({ type: 'toString', payload: {} })).toMatchObject({ ok: false, unknown: true });
    expect(checkEvent({ type: 'item.delta', payload: { delta: '' } })).toMatchObject({ ok: false, unknown: false });
    expect(checkEvent({ type: 'item.delta', payload: null })).toMatchObject({ ok: false, unknown: false });
  });

  it('say where they are damaged and never what was there', () => {
    const check = checkEvent({ type: 'item.started', payload: { item: { ...item, status: 'a secret' } } });
    expect(check).toMatchObject({ ok: false, issue: expect.stringContaining('item.started.item.status') });
    expect(JSON.stringify(check)).not.toContain('a secret');
  });

  it('take a long text by its place in the object store', () => {
    const content = { blob: 'a'.repeat(64), bytes: 70_000, head: 'x' };
    expect(ok('item.started', { item: { ...item, content } })).toBe(true);
    expect(ok('item.started', { item: { ...item, content: { ...content, blob: 'A'.repeat(64) } } })).toBe(false);
    expect(ok('item.delta', { delta: content })).toBe(false);
  });

  it('name at most two turns of the history', () => {
    const group = { turnId: 'u', itemIds: [] };
    const contextRevision = {
      revision: 1,
      historyGroups: [group, group],
      historyItems: [],
      memory: [],
      budget: {},
      omissions: [],
      historyStatus: null,
      memoryContextCharacters: 0,
      compactionSummary: null,
      currentRunOmittedThroughItemId: null,
    };
    const stepInput = { stepOrdinal: 1, contextRevision: 1, messages: 1, throughItemId: 'i', inputTokensBound: 0 };
    const payload = { stepOrdinal: 1, preparedAt: at, contextRevision, stepInput };
    expect(ok('model.input_prepared', payload)).toBe(true);
    expect(ok('model.input_prepared', { ...payload, contextRevision: null })).toBe(true);
    expect(
      ok('model.input_prepared', {
        ...payload,
        contextRevision: { ...contextRevision, historyGroups: [group, group, group] },
      }),
    ).toBe(false);
  });
});
