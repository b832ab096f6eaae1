import { externalizeBlobs } from '@rookery/journal';
import { foldRun, settleRun } from '@rookery/kernel';
import {
  AppError,
  COMMIT_VERSION,
  type Commit,
  type CommitEvent,
  commitId,
  commitTime,
  formatSubject,
  writerName,
} from '@rookery/protocol';
import type { AgentDeps } from '../deps.ts';
import type { RunRow } from '../queries.ts';

export interface Settlement {
  status: 'failed' | 'cancelled';
  reasonCode: string;
}

export type SettleResult =
  /** Stream sequence of the settlement. */
  | { settled: number }
  /** It was settled before, or its holder moved on: nothing was written. */
  | { settled: null };

/**
 * Settles a run that nobody holds (never claimed, or whose holder is gone) from what its subject says. The append is
 * checked against the last commit that was read, so that a holder that lives after all is not overruled silently: it
 * loses its next append, or we lose ours. `cause` is the command that asked for it, if one did.
 */
export async function settleForAnother(
  deps: AgentDeps,
  run: RunRow,
  settlement: Settlement,
  cause: string | null = null,
): Promise<SettleResult> {
  const subject = formatSubject({ kind: 'run', world: run.world, threadId: run.threadId, runId: run.runId });
  const commits = await deps.journal.readSubject(subject, 0);
  const state = foldRun(commits);
  if (state.status !== 'unclaimed' && state.status !== 'running') return { settled: null };
  const last = commits.at(-1);
  if (run.holder !== state.holder) return { settled: null };
  const now = commitTime(new Date(), last?.commit.at ?? null);
  const context = {
    homeId: deps.homeId,
    turnId: run.turnId,
    runId: run.runId,
    providerId: run.providerId,
    modelId: run.modelId,
    now,
  };
  // The same settler meets the same id; two settlers differ, and the expected sequence lets one of them win.
  const commandId = `settle-${deps.instance}`;
  const commit: Commit = {
    v: COMMIT_VERSION,
    id: commitId(subject, commandId, last?.streamSeq ?? 0),
    cause: cause ?? commandId,
    at: now,
    by: writerName('agent', deps.instance),
    agentId: run.agentId,
    branchId: run.branchId,
    turnId: run.turnId,
    runId: run.runId,
    events: settleRun(state, settlement, context) as CommitEvent[],
  };
  const ready = await externalizeBlobs(commit, deps.blobs, run.threadId);
  const result = await deps.journal.append({ subject, expected: last?.streamSeq ?? 0, commit: ready });
  // Two looks of this instance at once meet the same id; what the other one wrote may say something else.
  const isOurs = result.outcome === 'committed' && result.other === undefined;
  return { settled: isOurs ? result.streamSeq : null };
}

/** Finds runs whose holder is gone: its lease missing on two looks, both well after our own (re)connect. */
export class OrphanWatch {
  readonly #deps: AgentDeps;
  readonly #missed = new Map<string, number>();

  constructor(deps: AgentDeps) {
    this.#deps = deps;
  }

  /** True where the holder counts as dead now. `predecessor` holders are known to be gone at once. */
  async isGone(holder: string, isPredecessor: boolean): Promise<boolean> {
    if (isPredecessor) return true;
    const { bus, liveness, timings } = this.#deps;
    if (!bus.isConnected() || performance.now() - bus.connectedAt() < timings.orphanGraceMs) {
      this.#missed.delete(holder);
      return false;
    }
    try {
      if (await liveness.isAlive('agent', holder)) {
        this.#missed.delete(holder);
        return false;
      }
    } catch (error) {
      if (error instanceof AppError) return false;
      throw error;
    }
    const first = this.#missed.get(holder);
    if (first === undefined) {
      this.#missed.set(holder, performance.now());
      return false;
    }
    return performance.now() - first >= timings.orphanLookMs;
  }
}
