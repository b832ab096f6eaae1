import type { Item } from '@rookery/protocol';
import type { Write } from '../projection.ts';
import { longTextColumns } from './rows.ts';
import { owned, type Scope } from './scope.ts';

/** Writes an item whole, whether or not it is there already; its request's hash stays where none is given. */
export function writeItem(item: Item, scope: Scope, paramsSha256: string | null = null): Write {
  return {
    table: 'items',
    op: 'upsert',
    key: { id: item.id },
    set: owned(scope, {
      turn_id: item.turnId,
      run_id: item.runId,
      thread_id: scope.threadId,
      ordinal: item.ordinal,
      kind: item.kind,
      role: item.role,
      status: item.status,
      ...longTextColumns(item.content),
      ...(paramsSha256 === null ? {} : { params_sha256: paramsSha256 }),
      created_at: item.createdAt,
      updated_at: item.updatedAt,
      data_json: JSON.stringify(item.data),
    }),
  };
}
