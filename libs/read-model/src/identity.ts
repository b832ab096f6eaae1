import { AppError } from '@rookery/protocol';
import type { Checkpoint, CommitMark } from './bookkeeping.ts';

/** What is seen of a stream when a tail begins. */
export interface SeenJournal {
  created: string;
  lastSeq: number;
  journalId(): Promise<string>;
  /** Commit id of the message at a sequence; null where there is no commit of ours. */
  commitIdAt(seq: number): Promise<string | null>;
  isErased(seq: number): boolean;
}

const WAYS_BACK = ['rookery restore DIR', 'rookery journal accept-loss --at SEQ'];

const regressed = (what: string, expected: unknown, found: unknown, at: number): AppError =>
  new AppError('JOURNAL_REGRESSED', {
    message: `The journal is not the one that this read model was built from (${what}).`,
    details: { what, expected, found, at, waysBack: WAYS_BACK },
  });

/** JOURNAL_REGRESSED for messages that are missing from the stream without being on record as erased. */
export function holeError(after: number, found: number): AppError {
  return regressed('missing messages', after + 1, found, after);
}

async function checkMark(mark: CommitMark, seen: SeenJournal): Promise<AppError | null> {
  const found = await seen.commitIdAt(mark.seq);
  if (found === mark.id || (found === null && seen.isErased(mark.seq))) return null;
  return regressed('commit id', mark.id, found, mark.seq);
}

/**
 * Compares a journal with the checkpoint of what was built from it: the stream's creation time, its length, the
 * journal's id and the last two applied commits. Null where it is the same journal, at least as long.
 */
export async function checkIdentity(checkpoint: Checkpoint, seen: SeenJournal): Promise<AppError | null> {
  const { created, journalId, appliedSeq, marks } = checkpoint;
  if (created !== seen.created) return regressed('creation time', created, seen.created, appliedSeq);
  if (seen.lastSeq < appliedSeq) return regressed('last sequence', appliedSeq, seen.lastSeq, appliedSeq);
  const found = await seen.journalId();
  if (journalId !== found) return regressed('journal id', journalId, found, appliedSeq);
  for (const mark of marks) {
    const error = await checkMark(mark, seen);
    if (error !== null) return error;
  }
  return null;
}
