import type { Violation } from './checker.ts';
import type { HistoryCommit } from './fold.ts';

export interface RunRules {
  /** False where runs may still be under way when the journal was read. */
  allSettled?: boolean;
}

interface RunHistory {
  submittedAt: number | null;
  claimedAt: number | null;
  settledAt: number | null;
  settled: number;
  epochs: number[];
  states: string[];
  deltas: Map<string, string>;
  completed: Map<string, string>;
  toolCalls: Set<string>;
  results: Map<string, number>;
}

const newRun = (): RunHistory => ({
  submittedAt: null,
  claimedAt: null,
  settledAt: null,
  settled: 0,
  epochs: [],
  states: [],
  deltas: new Map(),
  completed: new Map(),
  toolCalls: new Set(),
  results: new Map(),
});

interface ItemPayload {
  id: string;
  kind: string;
  role: string | null;
  content: unknown;
  data: Record<string, unknown>;
}

/** What holds for runs: submitted once, claimed once an epoch, settled once, closed then, in the order of their turns. */
export function checkRuns(commits: readonly HistoryCommit[], rules: RunRules): Violation[] {
  const out: Violation[] = [];
  const runs = new Map<string, RunHistory>();
  /** Runs of each thread in the order of their submission. */
  const threads = new Map<string, string[]>();
  const runOf = (id: string): RunHistory => {
    const run = runs.get(id) ?? newRun();
    runs.set(id, run);
    return run;
  };

  for (const commit of commits) {
    const [, , area, threadId = '', kind, runId = ''] = commit.subject.split('.');
    if (area !== 'thread') continue;
    if (kind === 'turns') {
      for (const { type, payload } of commit.events) {
        const submitted = payload.run as { id: string } | undefined;
        if (type !== 'item.completed' || submitted === undefined) continue;
        const run = runOf(submitted.id);
        if (run.submittedAt !== null)
          out.push({ rule: 'submitted-once', detail: `${submitted.id} at ${commit.streamSeq}` });
        run.submittedAt = commit.streamSeq;
        threads.set(threadId, [...(threads.get(threadId) ?? []), submitted.id]);
      }
    }
    if (kind === 'run') takeRunCommit(commit, runId, runOf(runId), out);
  }

  for (const [id, run] of runs) {
    const add = (rule: string, detail: string) => out.push({ rule, detail: `${id} ${detail}` });
    if (run.submittedAt === null) add('submitted-once', 'was never submitted');
    if (run.settled > 1) add('settled-once', `was settled ${run.settled} times`);
    if (run.settled === 0 && rules.allSettled !== false) add('settled-once', 'was never settled');
    if (run.epochs.some((epoch, index) => epoch !== index + 1)) add('claim', `has the epochs ${run.epochs.join(', ')}`);
    for (const [item, text] of run.completed) {
      const streamed = run.deltas.get(item);
      if (streamed !== undefined && streamed !== text) add('deltas', `item ${item} is not the sum of its deltas`);
    }
    for (const [call, times] of run.results)
      if (times > 1) add('result-once', `tool call ${call} has ${times} results`);
    if (run.settled === 1) {
      for (const call of run.toolCalls)
        if (!run.results.has(call)) add('result-once', `tool call ${call} has no result`);
    }
  }
  for (const [thread, order] of threads) {
    for (const [index, id] of order.entries()) {
      const before = index === 0 ? undefined : runs.get(order[index - 1] as string);
      const { claimedAt } = runOf(id);
      if (before === undefined || claimedAt === null) continue;
      if (before.settledAt === null || before.settledAt > claimedAt) {
        out.push({ rule: 'one-run-a-thread', detail: `${thread}: ${id} started before the run before it had ended` });
      }
    }
  }
  return out;
}

function takeRunCommit(commit: HistoryCommit, runId: string, run: RunHistory, out: Violation[]): void {
  if (run.settled > 0) out.push({ rule: 'closed', detail: `${runId} goes on at ${commit.streamSeq} after its end` });
  const starts = commit.events.some(({ type }) => type === 'run.claimed' || type === 'run.settled');
  if (run.claimedAt === null && !starts) {
    out.push({ rule: 'claim', detail: `${runId} acts at ${commit.streamSeq} without a claim` });
  }
  for (const { type, itemId = '', payload } of commit.events) {
    const item = payload.item as ItemPayload | undefined;
    if (type === 'run.claimed') {
      run.claimedAt ??= commit.streamSeq;
      run.epochs.push(Number(payload.epoch));
    } else if (type === 'run.settled') {
      run.settled += 1;
      run.settledAt ??= commit.streamSeq;
    } else if (type === 'item.delta') {
      run.deltas.set(itemId, (run.deltas.get(itemId) ?? '') + String(payload.delta));
    } else if (type === 'item.started' && item?.kind === 'tool_call') {
      run.toolCalls.add(item.id);
    } else if (type === 'item.completed' && item !== undefined) {
      if (item.kind === 'message' && item.role === 'assistant' && typeof item.content === 'string') {
        run.completed.set(item.id, item.content);
      }
      if (item.kind === 'tool_result') {
        const call = String(item.data.toolCallItemId);
        run.results.set(call, (run.results.get(call) ?? 0) + 1);
      }
    }
  }
}
