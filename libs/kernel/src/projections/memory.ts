import { type EventPayload, parseSubject, type StoredCommit } from '@rookery/protocol';
import { memoryDdl } from './memory-ddl.ts';
import { defineProjection, type SqlRow, type Write } from './projection.ts';

interface Place {
  owner: { world: string; agent_id: string };
  at: string;
}

const sourceColumns = (source: EventPayload<'memory.created'>['source']): SqlRow => ({
  source_kind: source === null ? 'user_explicit' : 'session_item',
  source_thread_id: source?.threadId ?? null,
  source_turn_id: source?.turnId ?? null,
  source_item_id: source?.itemId ?? null,
  source_item_digest: source?.itemSha256 ?? null,
});

function created({ owner, at }: Place, memory: EventPayload<'memory.created'>): Write[] {
  const { memoryId, kind, scope, revision, content, contentSha256, source } = memory;
  return [
    {
      table: 'memory_records',
      op: 'insert',
      key: { ...owner, id: memoryId },
      set: {
        kind,
        scope_type: scope.type,
        scope_key: scope.key,
        current_revision: revision,
        state: 'active',
        created_at: at,
        updated_at: at,
        forgotten_at: null,
      },
    },
    {
      table: 'memory_revisions',
      op: 'insert',
      key: { ...owner, memory_id: memoryId, revision },
      set: {
        operation: 'create',
        content,
        content_digest: contentSha256,
        content_redacted_at: null,
        ...sourceColumns(source),
        created_at: at,
      },
    },
  ];
}

function corrected({ owner, at }: Place, memory: EventPayload<'memory.corrected'>): Write[] {
  const { memoryId, revision, content, contentSha256 } = memory;
  return [
    {
      table: 'memory_records',
      op: 'update',
      key: { ...owner, id: memoryId },
      set: { current_revision: revision, updated_at: at },
    },
    {
      table: 'memory_revisions',
      op: 'insert',
      key: { ...owner, memory_id: memoryId, revision },
      set: {
        operation: 'correct',
        content,
        content_digest: contentSha256,
        content_redacted_at: null,
        ...sourceColumns(null),
        created_at: at,
      },
    },
  ];
}

function receipt(
  { owner, at }: Place,
  accepted: EventPayload<'command.accepted'> | null,
  made: { memoryId: string; revision: number },
): Write[] {
  if (accepted === null || accepted.clientRequestId === null) return [];
  return [
    {
      table: 'memory_operations',
      op: 'insert',
      key: { ...owner, client_request_id: accepted.clientRequestId, memory_id: made.memoryId },
      set: {
        method: accepted.method,
        params_sha256: accepted.paramsSha256,
        resulting_revision: made.revision,
        created_at: at,
      },
    },
  ];
}

function project({ subject, commit }: StoredCommit): Write[] {
  const place = parseSubject(subject);
  if (place?.kind !== 'memory') return [];
  const at: Place = { owner: { world: place.world, agent_id: place.agentId }, at: commit.at };
  const writes: Write[] = [];
  let accepted: EventPayload<'command.accepted'> | null = null;
  for (const { type, payload } of commit.events) {
    if (type === 'command.accepted') accepted = payload as EventPayload<'command.accepted'>;
    if (type !== 'memory.created' && type !== 'memory.corrected') continue;
    const made = payload as EventPayload<typeof type>;
    if (made.memoryId !== place.memoryId) throw new TypeError('a memory stands on the subject of another one');
    writes.push(
      ...(type === 'memory.created'
        ? created(at, payload as EventPayload<'memory.created'>)
        : corrected(at, payload as EventPayload<'memory.corrected'>)),
      ...receipt(at, accepted, made),
    );
  }
  return writes;
}

/** memory.db: memories with their revisions and the receipts of requests, from stream MEMORY. */
export const memoryProjection = defineProjection({ name: 'memory', revision: 1, ddl: memoryDdl, project });
