import { setTimeout as pause } from 'node:timers/promises';
import {
  AppError,
  formatSubject,
  isSubjectToken,
  type StoredCommit,
  TOOL_REPLY_MS,
  writerName,
} from '@rookery/protocol';

/** Reads the last commit of a subject of the journal. */
export type ReadLast = (subject: string) => Promise<StoredCommit | null>;

/** The claim of an invocation: who holds the run and which commit announced the call. */
export interface RunClaim {
  readonly world: string;
  readonly threadId: string;
  readonly runId: string;
  /** Agent instance. */
  readonly holder: string;
  /** Stream sequence. */
  readonly intentSeq: number;
}

/** How long a reading that lags behind the intent is repeated, in milliseconds: the caller must still hear the refusal. */
const LAG_MS = TOOL_REPLY_MS * 0.8;
const PAUSE_MS = 50;

/**
 * Throws TOOL_STALE unless the last commit of the run is the holder's, at or after the intent, and does not settle it.
 * NOTE: a copy of the journal may lag; a reading older than the intent says nothing and is repeated.
 */
export async function requireCurrentRun(claim: RunClaim, readLast: ReadLast, lagMs: number = LAG_MS): Promise<void> {
  const { world, threadId, runId, holder, intentSeq } = claim;
  if (![world, threadId, runId].every(isSubjectToken)) throw new AppError('INVALID_PARAMS');
  const subject = formatSubject({ kind: 'run', world, threadId, runId });
  const deadline = performance.now() + lagMs;
  for (;;) {
    const last = await readLast(subject);
    if (last !== null && last.streamSeq >= intentSeq) {
      const { by, events } = last.commit;
      if (by === writerName('agent', holder) && !events.some((event) => event.type === 'run.settled')) return;
      throw new AppError('TOOL_STALE', { details: { runId, lastSeq: last.streamSeq } });
    }
    if (performance.now() > deadline)
      throw new AppError('TOOL_STALE', { details: { runId, lastSeq: last?.streamSeq ?? 0 } });
    await pause(PAUSE_MS);
  }
}
