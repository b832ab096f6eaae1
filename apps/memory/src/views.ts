import type { MemoryState } from '@rookery/kernel';
import type { Db } from './model.ts';

/** Whose memories. */
export interface Owner {
  world: string;
  agentId: string;
}

/** What a decision about one memory needs to know. */
export interface MemoryView {
  state: MemoryState;
  usedElsewhere: boolean;
}

interface OperationRow {
  memory_id: string;
  method: string;
  params_sha256: string;
  resulting_revision: number;
}

/** The memory as the read model has it, with the receipt of one request. */
export function loadMemory(db: Db, owner: Owner, memoryId: string, clientRequestId: string): MemoryView {
  const record = db
    .prepare('SELECT current_revision FROM memory_records WHERE world = ? AND agent_id = ? AND id = ?')
    .get(owner.world, owner.agentId, memoryId) as { current_revision: number } | undefined;
  const operations = db
    .prepare(
      `SELECT memory_id, method, params_sha256, resulting_revision FROM memory_operations
       WHERE world = ? AND agent_id = ? AND client_request_id = ?`,
    )
    .all(owner.world, owner.agentId, clientRequestId) as OperationRow[];
  const own = operations.find((row) => row.memory_id === memoryId);
  const receipts = new Map(
    own === undefined
      ? []
      : [[clientRequestId, { method: own.method, paramsSha256: own.params_sha256, revision: own.resulting_revision }]],
  );
  return {
    state: { revision: record?.current_revision ?? 0, receipts },
    usedElsewhere: operations.some((row) => row.memory_id !== memoryId),
  };
}
