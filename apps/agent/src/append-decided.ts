import { externalizeBlobs } from '@rookery/journal';
import { type Draft, isRefusal, type Refusal } from '@rookery/kernel';
import { type CommitEvent, commitId, type ErrorCode, type StoredCommit, writerName } from '@rookery/protocol';
import { appendDecided, type Reader } from '@rookery/read-model';
import { faultPoint } from '@rookery/service';
import type { AgentDeps } from './deps.ts';

export interface Target {
  subject: string;
  threadId: string;
  agentId: string;
  /** Cause of the commit and part of its id: the same command meets the same commit. */
  commandId: string;
  scope: { branchId?: string; turnId?: string; runId?: string };
}

export type Decision = { events: Draft[] } | { unchanged: true } | Refusal;
export type Decided = { stored: StoredCommit } | { unchanged: true };

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

/** Decides a command of this service on its own view and appends what is decided. */
export function decideAndAppend(
  deps: AgentDeps,
  target: Target,
  decide: (db: Reader<unknown>, now: string) => Decision,
): Promise<Decided> {
  const { subject, threadId, agentId, commandId, scope } = target;
  return appendDecided<unknown, Decided>(
    {
      journal: deps.journal,
      model: deps.model,
      subject,
      conflictWaitMs: deps.timings.conflictWaitMs,
      mayBeStale: MAY_BE_STALE,
      externalize: async (commit) => {
        const whole = await externalizeBlobs(commit, deps.blobs, threadId);
        faultPoint('agent:before-append');
        return whole;
      },
    },
    (db, now) => {
      const decision = decide(db, now);
      if (isRefusal(decision)) return decision;
      if ('unchanged' in decision) return { kind: 'done', result: decision };
      const events = decision.events as CommitEvent[];
      const by = writerName('agent', deps.instance);
      return {
        kind: 'append',
        commit: { id: commitId(subject, commandId, 0), cause: commandId, by, agentId, ...scope, events },
        stored: (streamSeq, commit) => {
          faultPoint('agent:after-append');
          return { stored: { streamSeq, subject, commit } };
        },
      };
    },
  );
}
