import { type ItemRow, itemOf, type RunRow, type StreamChunkRow, type TurnRow, turnOf } from '@rookery/kernel';
import { AppError, type Item, presentItem, type RpcParams, type Turn } from '@rookery/protocol';
import { readCursor, writeCursor } from './cursor.ts';
import { requireThread } from './threads.ts';
import type { ConversationReader } from './view.ts';

export interface RunView {
  id: string;
  turnId: string;
  providerId: string;
  modelId: string;
  executionPolicy: string;
  status: RunRow['status'];
  createdAt: string;
  startedAt: string | null;
  modelCalls: number;
  compactions: number;
  settledAt: string | null;
  reasonCode: string | null;
  items: Item[];
}

export type TurnView = Turn & { runs: RunView[] };

export interface TurnPage {
  turns: TurnView[];
  nextCursor: string | null;
  hasMore: boolean;
}

interface RunCounts {
  run_id: string;
  calls: number;
  compactions: number;
}

const idsOf = (rows: readonly { id: string }[]): string => JSON.stringify(rows.map(({ id }) => id));

function groupBy<T>(rows: readonly T[], key: (row: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const group = groups.get(key(row));
    if (group) group.push(row);
    else groups.set(key(row), [row]);
  }
  return groups;
}

/**
 * One page of a branch's turns with all their runs and items, those still streaming with their text so far. Pages go
 * from the newest turn backwards; within a page turns stand in their order.
 */
export function listTurns(reader: ConversationReader, world: string, params: RpcParams<'turn.list'>): TurnPage {
  const { threadId, branchId, limit } = params;
  requireThread(reader, world, threadId);
  const branch = reader.prepare('SELECT 1 FROM branches WHERE id = ? AND thread_id = ?').get(branchId, threadId);
  if (branch === undefined) throw new AppError('BRANCH_NOT_FOUND');
  const scope = { list: 'turn.list', world, threadId, branchId };
  const before = params.cursor ? Number(readCursor(scope, params.cursor, ['number'])[0]) : Number.MAX_SAFE_INTEGER;
  const rows = reader
    .prepare<[string, number, number], TurnRow>(
      'SELECT * FROM turns WHERE branch_id = ? AND ordinal < ? ORDER BY ordinal DESC LIMIT ?',
    )
    .all(branchId, before, limit + 1);
  const page = rows.slice(0, limit).reverse();
  const hasMore = rows.length > limit;
  const [oldest] = page;
  return {
    turns: withRuns(reader, page),
    nextCursor: hasMore && oldest ? writeCursor(scope, [oldest.ordinal]) : null,
    hasMore,
  };
}

function withRuns(reader: ConversationReader, turns: readonly TurnRow[]): TurnView[] {
  const runs = reader
    .prepare<[string], RunRow>(
      'SELECT * FROM runs WHERE turn_id IN (SELECT value FROM json_each(?)) ORDER BY created_at ASC, id ASC',
    )
    .all(idsOf(turns));
  const counts = new Map(
    reader
      .prepare<[string], RunCounts>(
        `SELECT value AS run_id,
           (SELECT count(*) FROM model_calls c WHERE c.run_id = value) AS calls,
           (SELECT count(*) FROM context_revisions v WHERE v.run_id = value AND v.revision > 1) AS compactions
         FROM json_each(?)`,
      )
      .all(idsOf(runs))
      .map((row) => [row.run_id, row]),
  );
  const items = groupBy(itemsOf(reader, runs), (item) => item.runId);
  const views = runs.map((run): RunView => {
    const count = counts.get(run.id);
    return {
      id: run.id,
      turnId: run.turn_id,
      providerId: run.provider_id,
      modelId: run.model_id,
      executionPolicy: run.execution_policy,
      status: run.status,
      createdAt: run.created_at,
      startedAt: run.started_at,
      modelCalls: count?.calls ?? 0,
      compactions: count?.compactions ?? 0,
      settledAt: run.settled_at,
      reasonCode: run.reason_code,
      items: items.get(run.id) ?? [],
    };
  });
  const byTurn = groupBy(views, (run) => run.turnId);
  return turns.map((turn) => ({ ...turnOf(turn), runs: byTurn.get(turn.id) ?? [] }));
}

function itemsOf(reader: ConversationReader, runs: readonly RunRow[]): Item[] {
  const rows = reader
    .prepare<[string], ItemRow>(
      'SELECT * FROM items WHERE run_id IN (SELECT value FROM json_each(?)) ORDER BY run_id, ordinal',
    )
    .all(idsOf(runs));
  const streaming = rows.filter((row) => row.status === 'streaming');
  const chunks = groupBy(
    reader
      .prepare<[string], StreamChunkRow>(
        'SELECT * FROM stream_chunks WHERE item_id IN (SELECT value FROM json_each(?)) ORDER BY item_id, ordinal',
      )
      .all(idsOf(streaming)),
    (chunk) => chunk.item_id,
  );
  const textOf = (id: string) => (chunks.get(id) ?? []).map((chunk) => chunk.text).join('');
  return rows.map((row) => itemOf(row, textOf(row.id)));
}

/** The page as clients see it, once long texts are back in their places. */
export function presentTurns(turns: readonly TurnView[]): TurnView[] {
  return turns.map((turn) => ({
    ...turn,
    runs: turn.runs.map((run) => ({ ...run, items: run.items.map(presentItem) })),
  }));
}
