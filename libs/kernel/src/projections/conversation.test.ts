import { type CommitEvent, type StoredCommit, seqOf, steerFollowUpRequestId } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { conversationProjection, projectConversation } from './conversation.ts';
import { defineProjection, type Write } from './projection.ts';

const T = '2026-11-30T12:00:00.000Z';
const owner = { agent_id: 'main', world: 'home' };
const RUN = 'journal.home.thread.t1.run.r1';

function stored(
  subject: string,
  events: CommitEvent[],
  scope: object = { branchId: 'b1', turnId: 'u1', runId: 'r1' },
): StoredCommit {
  const commit = { v: 1, id: 'x', cause: 'c', at: T, by: 'agent/host/0/boot', agentId: 'main', ...scope, events };
  return { streamSeq: 7, subject, commit };
}

const on = (table: string, writes: Write[]) => writes.filter((write) => write.table === table);
const item = (more: object) => ({
  id: 'i1',
  turnId: 'u1',
  runId: 'r1',
  ordinal: 2,
  kind: 'message',
  role: 'assistant',
  status: 'completed',
  content: 'hello',
  data: {},
  createdAt: T,
  updatedAt: T,
  ...more,
});
const completed = (more: object): CommitEvent => ({
  type: 'item.completed',
  itemId: 'i1',
  payload: { item: item(more) },
});

describe('the projection of the conversation', () => {
  it('says nothing about subjects of no thread', () => {
    expect(projectConversation(stored('journal.config', [{ type: 'config.changed', payload: {} }], {}))).toEqual([]);
    expect(projectConversation(stored('journal.home.channel.webhook.a.b', [], {}))).toEqual([]);
  });

  it('keeps a delta as a chunk of its item, at its place in the journal', () => {
    const writes = projectConversation(
      stored(RUN, [
        { type: 'item.delta', itemId: 'i1', payload: { delta: 'hel' } },
        { type: 'item.delta', itemId: 'i1', payload: { delta: 'lo' } },
      ]),
    );
    expect(writes).toEqual([
      { table: 'stream_chunks', op: 'insert', key: { item_id: 'i1', ordinal: 7168 }, set: { ...owner, text: 'hel' } },
      {
        table: 'stream_chunks',
        op: 'insert',
        key: { item_id: 'i1', ordinal: seqOf(7, 1) },
        set: { ...owner, text: 'lo' },
      },
      { table: 'runs', op: 'update', key: { id: 'r1' }, set: { last_stream_seq: 7 } },
    ]);
  });

  it('ends the chunks of an answer, and has none to end for a tool call', () => {
    expect(on('stream_chunks', projectConversation(stored(RUN, [completed({})])))).toEqual([
      { table: 'stream_chunks', op: 'delete', key: { item_id: 'i1' } },
    ]);
    const call = projectConversation(stored(RUN, [completed({ kind: 'tool_call', content: '' })]));
    expect(on('stream_chunks', call)).toEqual([]);
  });

  it('keeps a long text as its head beside its hash', () => {
    const content = { blob: 'ab'.repeat(32), bytes: 70_000, head: 'once' };
    const [write] = on('items', projectConversation(stored(RUN, [completed({ content })])));
    expect(write?.set).toMatchObject({ content: 'once', content_blob: 'ab'.repeat(32), content_bytes: 70_000 });
  });

  it('moves turn, run and thread when a run settles, at the time of the commit', () => {
    const settled = { status: 'failed', settledAt: '2026-11-30T11:59:59.000Z', reasonCode: 'agent_error' };
    expect(projectConversation(stored(RUN, [{ type: 'run.settled', payload: settled }]))).toEqual([
      {
        table: 'runs',
        op: 'update',
        key: { id: 'r1' },
        set: { status: 'failed', settled_at: '2026-11-30T11:59:59.000Z', reason_code: 'agent_error' },
      },
      { table: 'turns', op: 'update', key: { id: 'u1' }, set: { status: 'failed', updated_at: T } },
      { table: 'threads', op: 'update', key: { id: 't1' }, set: { updated_at: T } },
      { table: 'runs', op: 'update', key: { id: 'r1' }, set: { last_stream_seq: 7 } },
    ]);
  });

  it('keeps a steer that its own commit leaves over, and drops one that a model call has seen', () => {
    const steer = { role: 'user', data: { steer: true, clientRequestId: 's1', status: 'received' } };
    const left: CommitEvent = { type: 'run.steers_left', payload: { steers: [{ itemId: 'i1', content: 'more' }] } };
    const writes = on('pending_steers', projectConversation(stored(RUN, [completed(steer), left])));
    expect(writes).toHaveLength(1);
    expect(writes[0]).toMatchObject({
      op: 'upsert',
      key: { item_id: 'i1' },
      set: { left_at: T, content: 'more', follow_up_request_id: steerFollowUpRequestId('r1', 'i1') },
    });
    expect(on('pending_steers', projectConversation(stored(RUN, [completed(steer)])))).toEqual([
      { table: 'pending_steers', op: 'delete', key: { item_id: 'i1' } },
    ]);
  });

  it('refuses a commit that lacks what its events need', () => {
    const settled: CommitEvent = { type: 'run.settled', payload: { status: 'completed', settledAt: T } };
    expect(() => projectConversation(stored(RUN, [settled], { runId: 'r1' }))).toThrow(TypeError);
    expect(() => projectConversation(stored(RUN, [{ type: 'item.delta', payload: { delta: 'x' } }]))).toThrow(
      TypeError,
    );
  });

  it('gives the same writes for the same commit and changes nothing of it', () => {
    const commit = stored(RUN, [completed({})]);
    const before = structuredClone(commit);
    expect(projectConversation(commit)).toEqual(projectConversation(commit));
    expect(commit).toEqual(before);
  });
});

describe('the version of a projection', () => {
  const { name, ddl, project } = conversationProjection;
  const definition = { name, ddl, project, revision: 1 };

  it('is the same for the same definition and another one for other tables or rows', () => {
    expect(defineProjection(definition).version).toBe(conversationProjection.version);
    expect(defineProjection({ ...definition, revision: 2 }).version).not.toBe(conversationProjection.version);
    expect(defineProjection({ ...definition, ddl: [...ddl, 'CREATE TABLE x (y TEXT) STRICT'] }).version).not.toBe(
      conversationProjection.version,
    );
  });
});
