import { memoryPreview } from '@rookery/kernel';
import type { RpcParams } from '@rookery/protocol';
import { decodeCursor, encodeCursor } from './cursor.ts';
import type { Db } from './model.ts';
import type { Owner } from './views.ts';

type Scope = RpcParams<'memory.create'>['scope'];

interface RecordRow {
  id: string;
  kind: string;
  scope_type: 'global' | 'workspace';
  scope_key: string | null;
  current_revision: number;
  state: string;
  content: string | null;
  created_at: string;
  updated_at: string;
  forgotten_at: string | null;
}

interface MemorySummary {
  id: string;
  kind: string;
  scope: Scope;
  revision: number;
  state: string;
  preview: string | null;
  createdAt: string;
  updatedAt: string;
  forgottenAt: string | null;
}

export interface MemoryPage {
  memories: MemorySummary[];
  nextCursor: string | null;
  hasMore: boolean;
}

/** Where a memory's content came from, as the read model has it. */
export interface StoredSource {
  sourceKind: string;
  threadId: string | null;
  turnId: string | null;
  itemId: string | null;
}

export type MemoryRecord = Omit<MemorySummary, 'preview'> & { content: string | null };

const columns = `r.id, r.kind, r.scope_type, r.scope_key, r.current_revision, r.state, v.content,
  r.created_at, r.updated_at, r.forgotten_at`;
const from = `memory_records r LEFT JOIN memory_revisions v
  ON v.world = r.world AND v.agent_id = r.agent_id AND v.memory_id = r.id AND v.revision = r.current_revision`;

const record = (row: RecordRow): MemoryRecord => ({
  id: row.id,
  kind: row.kind,
  scope: { type: row.scope_type, key: row.scope_key } as Scope,
  revision: row.current_revision,
  state: row.state,
  content: row.content,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  forgottenAt: row.forgotten_at,
});

const summary = (row: RecordRow): MemorySummary => {
  const { content, ...rest } = record(row);
  return { ...rest, preview: content === null ? null : memoryPreview(content) };
};

/** One page of an agent's memories, last changed first. Codes: INVALID_CURSOR. */
export function listMemories(db: Db, owner: Owner, params: RpcParams<'memory.list'>): MemoryPage {
  const { scope, kind, state, cursor, limit } = params;
  const where = ['r.world = @world', 'r.agent_id = @agentId', 'r.state = @state'];
  const values: Record<string, string | number | null> = { ...owner, state, limit: limit + 1 };
  if (scope !== undefined) {
    where.push('r.scope_type = @scopeType', 'r.scope_key IS @scopeKey');
    values.scopeType = scope.type;
    values.scopeKey = scope.key;
  }
  if (kind !== undefined) {
    where.push('r.kind = @kind');
    values.kind = kind;
  }
  if (cursor !== undefined && cursor !== null) {
    const after = decodeCursor(cursor, params);
    where.push('(r.updated_at < @updatedAt OR (r.updated_at = @updatedAt AND r.id > @id))');
    values.updatedAt = after.updatedAt;
    values.id = after.id;
  }
  const sql = `SELECT ${columns} FROM ${from} WHERE ${where.join(' AND ')} ORDER BY r.updated_at DESC, r.id ASC LIMIT @limit`;
  const rows = db.prepare(sql).all(values) as RecordRow[];
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  return {
    memories: page.map(summary),
    nextCursor: hasMore ? encodeCursor({ updatedAt: last.updated_at, id: last.id }, params) : null,
    hasMore,
  };
}

/** One memory of an agent, null where it has none of that id. */
export function getMemory(db: Db, owner: Owner, memoryId: string): MemoryRecord | null {
  const sql = `SELECT ${columns} FROM ${from} WHERE r.world = @world AND r.agent_id = @agentId AND r.id = @memoryId`;
  const row = db.prepare(sql).get({ ...owner, memoryId }) as RecordRow | undefined;
  return row === undefined ? null : record(row);
}

/** The newest source that a revision of the memory cites: a correction by hand does not undo where it came from. */
export function getSource(db: Db, owner: Owner, memoryId: string): StoredSource {
  const sql = `SELECT source_kind AS sourceKind, source_thread_id AS threadId, source_turn_id AS turnId,
      source_item_id AS itemId
    FROM memory_revisions WHERE world = @world AND agent_id = @agentId AND memory_id = @memoryId
    ORDER BY source_kind = 'user_explicit', revision DESC LIMIT 1`;
  const row = db.prepare(sql).get({ ...owner, memoryId }) as StoredSource | undefined;
  return row ?? { sourceKind: 'user_explicit', threadId: null, turnId: null, itemId: null };
}
