import { type ThreadRow, threadOf } from '@rookery/kernel';
import { AppError, type RpcParams, type Thread } from '@rookery/protocol';
import { readCursor, writeCursor } from './cursor.ts';
import type { ConversationReader } from './view.ts';

/** The row of a thread of this world; THREAD_NOT_FOUND alike for those of others and those that are nowhere. */
export function requireThread(reader: ConversationReader, world: string, threadId: string): ThreadRow {
  const row = reader
    .prepare<[string, string], ThreadRow>('SELECT * FROM threads WHERE id = ? AND world = ?')
    .get(threadId, world);
  if (row === undefined) throw new AppError('THREAD_NOT_FOUND');
  return row;
}

export function getThread(reader: ConversationReader, world: string, threadId: string): { thread: Thread } {
  return { thread: threadOf(requireThread(reader, world, threadId)) };
}

export interface ThreadPage {
  threads: Thread[];
  nextCursor: string | null;
  hasMore: boolean;
}

const first = ['9', ''] as const;

/** One page of the catalogue: last changed first, then by id. */
export function listThreads(reader: ConversationReader, world: string, params: RpcParams<'thread.list'>): ThreadPage {
  const { limit, archived } = params;
  const scope = { list: 'thread.list', world, archived };
  const [updatedAt, id] = params.cursor ? readCursor(scope, params.cursor, ['string', 'string']) : first;
  const rows = reader
    .prepare<[string, string, string, string, number], ThreadRow>(
      `SELECT * FROM threads WHERE world = ? AND archived_at IS ${archived ? 'NOT NULL' : 'NULL'}
         AND (updated_at < ? OR (updated_at = ? AND id > ?))
       ORDER BY updated_at DESC, id ASC LIMIT ?`,
    )
    .all(world, String(updatedAt), String(updatedAt), String(id), limit + 1);
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasMore = rows.length > limit;
  return {
    threads: page.map(threadOf),
    nextCursor: hasMore && last ? writeCursor(scope, [last.updated_at, last.id]) : null,
    hasMore,
  };
}
