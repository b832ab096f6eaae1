import { type CommitEvent, formatSubject, isBlobRef, type StoredCommit, seqOf } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { channelsProjection } from './channels.ts';
import type { Write } from './projection.ts';

const T = '2026-11-30T12:00:00.000Z';
const CHAT = formatSubject({ kind: 'channel', world: 'home', channel: 'webhook', account: 'ci', chat: 'Räume 1' });
const TURNS = formatSubject({ kind: 'turns', world: 'home', threadId: 't1' });
const RUN = formatSubject({ kind: 'run', world: 'home', threadId: 't1', runId: 'r1' });

function project(subject: string, events: CommitEvent[], streamSeq = 7): Write[] {
  const commit = { v: 1, id: 'x', cause: 'c', at: T, by: 'test/host-0-boot', agentId: 'main', events };
  return channelsProjection.project({ streamSeq, subject, commit } satisfies StoredCommit);
}
const received = (more: object = {}): CommitEvent => ({
  type: 'channel.received',
  payload: {
    deliveryId: 'd1',
    bodySha256: 'ab'.repeat(32),
    content: 'hello',
    threadId: 't1',
    turnId: 'u1',
    runId: 'r1',
    providerId: 'demo',
    modelId: 'demo-1',
    answerUrl: 'https://example.test/',
    receivedAt: T,
    ...more,
  },
});
const message = (more: object): CommitEvent => ({
  type: 'item.completed',
  itemId: 'i1',
  payload: { item: { id: 'i1', kind: 'message', role: 'assistant', status: 'completed', content: 'answer', ...more } },
});
const tables = (writes: Write[]) => writes.map((write) => `${write.op} ${write.table}`);

describe('the projection of channels', () => {
  it('makes binding, delivery and outbox row of a delivery, in the chat that the subject names', () => {
    const writes = project(CHAT, [received()]);
    expect(tables(writes)).toEqual(['upsert channel_bindings', 'insert channel_deliveries', 'insert channel_outbox']);
    const chat = { world: 'home', channel_id: 'webhook', account_id: 'ci', chat_id: 'Räume 1' };
    expect(writes[0]?.key).toEqual(chat);
    expect(writes[1]).toMatchObject({ key: { received_seq: seqOf(7, 0) }, set: { ...chat, content_json: '"hello"' } });
    expect(writes[2]).toMatchObject({ key: { id: seqOf(7, 0) }, set: { ...chat, run_id: 'r1', status: 'waiting' } });
  });

  it('makes no outbox row where no answer is wanted', () => {
    expect(tables(project(CHAT, [received({ answerUrl: null })]))).not.toContain('insert channel_outbox');
  });

  it('drops the content when the turn is in the journal', () => {
    const payload = { turn: { id: 'u1' }, run: { id: 'r1' }, item: { id: 'i0', kind: 'message', role: 'user' } };
    expect(project(TURNS, [{ type: 'item.completed', itemId: 'i0', payload }])).toEqual([
      {
        table: 'channel_deliveries',
        op: 'update',
        key: { run_id: 'r1' },
        set: { submitted_at: T, content_json: null },
      },
    ]);
  });

  it('takes the last text of the assistant, and nothing else, as the answer', () => {
    const blob = { blob: 'cd'.repeat(32), bytes: 100_000, head: 'long' };
    expect(isBlobRef(blob)).toBe(true);
    const writes = project(RUN, [
      message({ role: 'user', content: 'a steer' }),
      message({ kind: 'tool_call', content: 'x' }),
      message({ kind: 'tool_result', role: 'tool', content: 'x' }),
      message({ content: '' }),
      message({ content: 'first' }),
      message({ content: blob, status: 'failed' }),
    ]);
    expect(writes.map((write) => write.set)).toEqual([{ text_json: '"first"' }, { text_json: JSON.stringify(blob) }]);
  });

  it('makes an answer due when its run settles, once', () => {
    const settled = { type: 'run.settled', payload: { status: 'failed', settledAt: T, reasonCode: 'provider_failed' } };
    expect(project(RUN, [settled])).toEqual([
      {
        table: 'channel_outbox',
        op: 'update',
        // An answer that is closed already stays closed.
        key: { run_id: 'r1', status: 'waiting' },
        set: { status: 'pending', run_status: 'failed', reason_code: 'provider_failed', updated_at: T },
      },
    ]);
  });

  it('closes an answer', () => {
    const payload = {
      runId: 'r1',
      idempotencyKey: 'answer-r1',
      status: 'failed',
      attempts: 3,
      errorCode: 'http_410',
      finishedAt: T,
    };
    expect(project(CHAT, [{ type: 'channel.delivery_finished', payload }])).toEqual([
      {
        table: 'channel_outbox',
        op: 'update',
        key: { run_id: 'r1' },
        set: { status: 'failed', attempts: 3, last_error_code: 'http_410', updated_at: T },
      },
      {
        table: 'channel_deliveries',
        op: 'update',
        key: { run_id: 'r1' },
        set: { failed_code: 'http_410', content_json: null },
      },
    ]);
  });

  it('writes nothing for what is not its business', () => {
    expect(project('journal.config', [{ type: 'config.changed', payload: {} }])).toEqual([]);
    expect(project('journal.home.something.new', [received()])).toEqual([]);
  });
});
