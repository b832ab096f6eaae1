import { AppError } from '@rookery/protocol';
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
