import { externalizeBlobs } from '@rookery/journal';
import { type Draft, isRefusal, type Refusal } from '@rookery/kernel';
import {
  AppError,
  COMMIT_VERSION,
  type Commit,
  type CommitEvent,
  commitId,
  commitTime,
  type ErrorCode,
  type StoredCommit,
  writerName,
} from '@rookery/protocol';
import type { Reader } from '@rookery/read-model';
import { faultPoint } from '@rookery/service';
import type { AgentDeps } from './deps.ts';

export interface Target {
  subject: string;
  threadId: string;
  agentId: string;
  /** Cause of the commit and part of its id: the same command meets the same commit. */
  commandId: string;
  scope: { branchId?: string; turnId?: string; runId?: string };
  /** For a commit on a subject that must not exist yet. */
  onlyFirst?: boolean;
}

export type Decision = { events: Draft[] } | { unchanged: true } | Refusal;
export type Decided = { stored: StoredCommit } | { unchanged: true };

const ATTEMPTS = 5;

/** Refusals that a view which lags behind the journal may give too often. */
const MAY_BE_STALE: readonly ErrorCode[] = [
  'THREAD_NOT_FOUND',
  'THREAD_BUSY',
  'THREAD_ARCHIVED',
  'RUN_NOT_FOUND',
  'BRANCH_NOT_FOUND',
];

/** Waits until everything that is in the journal now is applied here. */
export async function level(deps: AgentDeps): Promise<void> {
  const { lastSeq } = await deps.journal.info();
  await deps.model.waitFor(lastSeq, deps.timings.conflictWaitMs);
}

/** Why the view has stopped following the journal for good, null where it follows: then nothing may be appended. */
export function applyingError(model: AgentDeps['model']): AppError | null {
  const state = model.state();
  return state.state === 'regressed' || state.state === 'too-old' || state.state === 'failed' ? state.error : null;
}

/**
 * The pattern of every command: read the own view with the subject's head, decide, append at that head. On a conflict
 * wait until the view has caught up and decide again, at most five times.
 */
export async function appendDecided(
  deps: AgentDeps,
  target: Target,
  decide: (db: Reader<unknown>, now: string) => Decision,
): Promise<Decided> {
  const stopped = applyingError(deps.model);
  if (stopped !== null) throw stopped;
  let lookedAgain = false;
  for (let attempt = 1; attempt <= ATTEMPTS; ) {
    const { head, now, decision } = deps.model.read((db) => {
      const found = db.head(target.subject);
      const at = commitTime(new Date(), found.at);
      return { head: found.streamSeq, now: at, decision: decide(db, at) };
    });
    if (isRefusal(decision)) {
      if (lookedAgain || !MAY_BE_STALE.includes(decision.refused)) {
        throw new AppError(decision.refused, decision.details === undefined ? {} : { details: decision.details });
      }
      lookedAgain = true;
      await level(deps);
      continue;
    }
    if ('unchanged' in decision) return decision;
    const commit: Commit = await externalizeBlobs(
      {
        v: COMMIT_VERSION,
        id: commitId(target.subject, target.commandId, 0),
        cause: target.commandId,
        at: now,
        by: writerName('agent', deps.instance),
        agentId: target.agentId,
        ...target.scope,
        events: decision.events as CommitEvent[],
      },
      deps.blobs,
      target.threadId,
    );
    faultPoint('agent:before-append');
    const result = await deps.journal.append({
      subject: target.subject,
      expected: target.onlyFirst ? 0 : head,
      commit,
    });
    faultPoint('agent:after-append');
    if (result.outcome === 'committed') {
      return { stored: { streamSeq: result.streamSeq, subject: target.subject, commit } };
    }
    await deps.model.waitFor(result.lastSeq, deps.timings.conflictWaitMs).catch(() => undefined);
    attempt += 1;
  }
  throw new AppError('JOURNAL_CONFLICT');
}
