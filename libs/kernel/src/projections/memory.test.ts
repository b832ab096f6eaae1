import { type CommitEvent, formatSubject, type StoredCommit, sha256Hex } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { decideCorrectMemory, decideCreateMemory } from '../memory/decide.ts';
import { isRefusal } from '../refusal.ts';
import { memoryProjection } from './memory.ts';
import { memorySourcesProjection } from './memory-sources.ts';
import type { Projection, Write } from './projection.ts';

const T = '2026-11-30T12:00:00.000Z';
const owner = { world: 'home', agent_id: 'main' };
const SUBJECT = formatSubject({ kind: 'memory', world: 'home', agentId: 'main', memoryId: 'memory_1' });
const RUN = formatSubject({ kind: 'run', world: 'home', threadId: 't1', runId: 'r1' });

function project(projection: Projection, subject: string, events: CommitEvent[]): Write[] {
  const commit = { v: 1, id: 'x', cause: 'c', at: T, by: 'memory/host-0-boot', agentId: 'main', events };
  return projection.project({ streamSeq: 7, subject, commit } satisfies StoredCommit);
}
function eventsOf(decision: ReturnType<typeof decideCreateMemory>): CommitEvent[] {
  if (isRefusal(decision) || decision.kind !== 'append') throw new Error('expected events');
  return decision.events;
}

const source = { threadId: 't1', turnId: 'u1', itemId: 'i1', itemSha256: 'ab'.repeat(32) };
const created = eventsOf(
  decideCreateMemory(
    { revision: 0, receipts: new Map() },
    {
      memoryId: 'memory_1',
      params: {
        kind: 'project',
        scope: { type: 'workspace', key: 'w1' },
        content: 'text',
        clientRequestId: 'req-1',
        source: { type: 'session_item', itemId: 'i1' },
      },
      source,
      usedElsewhere: false,
    },
  ),
);
const corrected = eventsOf(
  decideCorrectMemory(
    { revision: 1, receipts: new Map() },
    {
      params: { memoryId: 'memory_1', expectedRevision: 1, content: 'better', clientRequestId: 'req-2' },
      usedElsewhere: false,
    },
  ),
);

describe('the projection of memories', () => {
  it('makes record, first revision and receipt of a creation', () => {
    const [record, revision, receipt, ...more] = project(memoryProjection, SUBJECT, created);
    expect(more).toEqual([]);
    expect(record).toMatchObject({
      table: 'memory_records',
      op: 'insert',
      key: { ...owner, id: 'memory_1' },
      set: { kind: 'project', scope_type: 'workspace', scope_key: 'w1', current_revision: 1, state: 'active' },
    });
    expect(revision).toMatchObject({
      table: 'memory_revisions',
      key: { ...owner, memory_id: 'memory_1', revision: 1 },
      set: {
        operation: 'create',
        content: 'text',
        content_digest: sha256Hex('text'),
        source_kind: 'session_item',
        source_item_id: 'i1',
      },
    });
    expect(receipt).toMatchObject({
      table: 'memory_operations',
      key: { ...owner, client_request_id: 'req-1', memory_id: 'memory_1' },
      set: { method: 'memory.create', resulting_revision: 1 },
    });
  });

  it('moves the record and adds a revision for a correction', () => {
    const writes = project(memoryProjection, SUBJECT, corrected);
    expect(writes.map((write) => `${write.op} ${write.table}`)).toEqual([
      'update memory_records',
      'insert memory_revisions',
      'insert memory_operations',
    ]);
    expect(writes[0]?.set).toEqual({ current_revision: 2, updated_at: T });
    expect(writes[1]?.set).toMatchObject({ operation: 'correct', content: 'better', source_kind: 'user_explicit' });
  });

  it('refuses a memory on the subject of another one', () => {
    const other = formatSubject({ kind: 'memory', world: 'home', agentId: 'main', memoryId: 'memory_2' });
    expect(() => project(memoryProjection, other, created)).toThrow(TypeError);
  });
});

describe('the projection of what memories may cite', () => {
  const item = (content: unknown): CommitEvent => ({
    type: 'item.completed',
    itemId: 'i1',
    payload: { item: { id: 'i1', turnId: 'u1', content } },
  });

  it('keeps ids and digest of every completed item, never its text', () => {
    expect(project(memorySourcesProjection, RUN, [item('secret text'), { type: 'run.settled', payload: {} }])).toEqual([
      {
        table: 'source_items',
        op: 'upsert',
        key: { item_id: 'i1' },
        set: { ...owner, thread_id: 't1', turn_id: 'u1', content_sha256: sha256Hex('secret text') },
      },
    ]);
  });

  it('takes the digest of a long text from its blob', () => {
    const blob = sha256Hex('long');
    const [write] = project(memorySourcesProjection, RUN, [item({ blob, bytes: 4, head: 'l' })]);
    expect(write?.set).toMatchObject({ content_sha256: blob });
  });
});
