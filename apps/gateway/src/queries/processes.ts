import { AppError, isBlobRef, type ProcessRecord } from '@rookery/protocol';
import type { ConversationReader } from './view.ts';

export interface ProcessOwner {
  world: string;
  threadId: string;
}

/** Refuses processes of threads that are not this world's, in the same words as those that are nowhere. */
export function requireProcessOwner(reader: ConversationReader, { world, threadId }: ProcessOwner): void {
  const row = reader.prepare('SELECT 1 FROM threads WHERE id = ? AND world = ?').get(threadId, world);
  if (row === undefined) throw new AppError('PROCESS_NOT_FOUND');
}

/** The last fact about a process of a thread, null where there is none. */
export function storedProcess(reader: ConversationReader, threadId: string, processId: string): ProcessRecord | null {
  const row = reader
    .prepare<[string, string], { record_json: string }>(
      'SELECT record_json FROM process_sessions WHERE process_id = ? AND thread_id = ?',
    )
    .get(processId, threadId);
  return row === undefined ? null : (JSON.parse(row.record_json) as ProcessRecord);
}

/** True where no later fact can follow: it ended, or its end will never be known. */
export function isEndOfProcess({ state, errorCode }: ProcessRecord): boolean {
  return state !== 'running' && errorCode !== 'start_pending';
}

/**
 * What the journal knows of a process that has ended, as its runner would answer it: the facts and the end of the output,
 * which counts as all there is. INVALID_CURSOR behind that.
 */
export function storedProcessView(record: ProcessRecord, cursor: number): Record<string, unknown> {
  const { processId, state, exitCode, cwd, pid, startedAt, finishedAt, truncated, errorCode } = record;
  const output = isBlobRef(record.output) ? record.output.head : record.output;
  const bytes = Buffer.from(output);
  if (cursor > bytes.length) throw new AppError('INVALID_CURSOR');
  const facts = { processId, state, exitCode, cwd, pid, startedAt, finishedAt, truncated, errorCode };
  // A fact holds less of an output than one page may.
  return { ...facts, output: bytes.toString('utf8', cursor), cursor, nextCursor: bytes.length, hasMore: false };
}
