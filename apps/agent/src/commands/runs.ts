import { callCommand } from '@rookery/bus';
import { contentRefusal } from '@rookery/kernel';
import {
  AppError,
  type CommandRequest,
  canonicalSha256,
  commandSubject,
  limits,
  rpcParams,
  seqOf,
  sha256Hex,
  steerItemIdOf,
  toAppError,
} from '@rookery/protocol';
import { level } from '../append-decided.ts';
import type { AgentDeps } from '../deps.ts';
import { type RunRow, runById, steerContent } from '../queries.ts';
import { settleForAnother } from '../runs/orphans.ts';
import type { Scheduler } from '../runs/scheduler.ts';
import { checkParams } from './params.ts';

interface Answer {
  result: unknown;
  seq?: number;
}

const ATTEMPTS = 5;
const CLAIM_LOOK_MS = 50;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** The last seq that a commit can have: a reader that has it has the whole commit. */
const lastSeqOf = (streamSeq: number): number => seqOf(streamSeq, limits.eventsPerCommit - 1);
const isOpen = (run: RunRow): boolean => run.status === 'queued' || run.status === 'running';

async function findRun(deps: AgentDeps, world: string, runId: string): Promise<RunRow> {
  const look = () => deps.model.read((db) => runById(db, runId));
  let run = look();
  if (run === null) {
    await level(deps);
    run = look();
  }
  if (run === null || run.world !== world) throw new AppError('RUN_NOT_FOUND');
  return run;
}

/** True once the run is settled or taken from us; false after a while. */
async function isDone(held: { done: Promise<void> }, withinMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), withinMs);
  });
  try {
    return await Promise.race([held.done.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Asks the instance that holds a run; RUN_HOLDER_SILENT where it does not answer in time. */
async function askHolder(deps: AgentDeps, holder: string, request: CommandRequest): Promise<Answer> {
  const { holderSilentMs } = deps.timings;
  try {
    const subject = commandSubject('agent', request.method, holder);
    const { v: _version, ...forwarded } = request;
    return await callCommand(deps.bus, subject, forwarded, { timeoutMs: holderSilentMs, noResponderMs: 0 });
  } catch (error) {
    if (error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE')
      throw new AppError('RUN_HOLDER_SILENT', { cause: error });
    throw error;
  }
}

/** run.cancel: accepted says that it was taken, not that the outcome is cancelled. */
async function cancel(deps: AgentDeps, scheduler: Scheduler, request: CommandRequest): Promise<Answer> {
  const { runId } = checkParams(rpcParams['run.cancel'], request.params);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const held = scheduler.holder(runId);
    if (held?.isSettled) {
      // Its end is decided and on its way to the journal: nothing may take its place.
      if (!(await isDone(held, deps.timings.holderSilentMs))) throw new AppError('RUN_HOLDER_SILENT');
    } else if (held !== null && held.lastSeq > 0) {
      held.cancel(request.commandId).catch(() => undefined);
      return { result: { accepted: true, runId, status: 'running' } };
    }
    const run = await findRun(deps, request.world, runId);
    if (!isOpen(run)) return { result: { accepted: false, runId, status: run.status } };
    if (run.status === 'running' && run.holder !== null && run.holder !== deps.instance) {
      return await askHolder(deps, run.holder, request);
    }
    // Looked for again: while the view was waited for, this instance may have begun with the run.
    const claimed = scheduler.holder(runId);
    if (claimed?.isSettled) continue;
    if (claimed !== null && run.holder === deps.instance) {
      // Our claim stands and its acknowledgement is on the way: the end follows it instead of taking its place.
      const stored = await claimed.cancel(request.commandId).catch(() => null);
      if (stored !== null) return { result: { accepted: true, runId, status: 'running' } };
      await level(deps);
      continue;
    }
    const { settled } = await settleForAnother(
      deps,
      run,
      { status: 'cancelled', reasonCode: 'cancelled' },
      request.commandId,
    );
    if (settled !== null) {
      void scheduler.afterSettled(run.threadId, settled);
      return { result: { accepted: true, runId, status: 'cancelled' }, seq: lastSeqOf(settled) };
    }
    // It was claimed or settled meanwhile: look again once that is applied here.
    await level(deps);
    await pause(CLAIM_LOOK_MS);
  }
  throw new AppError('RUN_HOLDER_SILENT');
}

/** run.steer: acknowledged once it is stored; the same request is taken once. */
async function steer(deps: AgentDeps, scheduler: Scheduler, request: CommandRequest): Promise<Answer> {
  const params = checkParams(rpcParams['run.steer'], request.params);
  const { runId, content, clientRequestId } = params;
  if (params.expectedRunId !== runId) throw new AppError('INVALID_PARAMS', { details: { path: 'expectedRunId' } });
  const refusal = contentRefusal(content);
  if (refusal !== null) throw new AppError(refusal.refused, { details: refusal.details ?? {} });
  const received = { accepted: true, runId, clientRequestId, status: 'received' };
  // The end of the run may have come between the steer and its answer: then the answer is still what it was.
  const wasStored = (): boolean => {
    const stored = deps.model.read((db) => steerContent(db, steerItemIdOf(deps.homeId, runId, clientRequestId)));
    if (stored !== null && stored !== content && stored !== sha256Hex(content))
      throw new AppError('IDEMPOTENCY_CONFLICT');
    return stored !== null;
  };
  const deadline = performance.now() + deps.timings.holderSilentMs;
  for (;;) {
    const held = scheduler.holder(runId);
    if (held !== null && held.lastSeq > 0) {
      const known = held.knownSteer(clientRequestId);
      if (known !== null && known !== canonicalSha256(content)) throw new AppError('IDEMPOTENCY_CONFLICT');
      try {
        const streamSeq = await held.steer(clientRequestId, content, request.commandId);
        return { result: received, seq: lastSeqOf(streamSeq) };
      } catch (error) {
        if (toAppError(error).code !== 'RUN_SETTLED') throw error;
        await level(deps);
        if (wasStored()) return { result: received };
        throw error;
      }
    }
    const run = await findRun(deps, request.world, runId);
    if (!isOpen(run)) {
      if (wasStored()) return { result: received };
      throw new AppError('RUN_SETTLED');
    }
    if (run.status === 'running' && run.holder !== null && run.holder !== deps.instance) {
      return await askHolder(deps, run.holder, request);
    }
    // Queued: nobody holds it yet. A claim is near, or other turns come first.
    if (performance.now() > deadline) throw new AppError(run.status === 'queued' ? 'THREAD_BUSY' : 'RUN_HOLDER_SILENT');
    await pause(CLAIM_LOOK_MS);
  }
}

/** run.cancel and run.steer; any instance takes them and asks the one that holds the run. */
export function runCommands(
  deps: AgentDeps,
  scheduler: Scheduler,
): Record<string, (request: CommandRequest) => Promise<Answer>> {
  return {
    'run.cancel': (request) => cancel(deps, scheduler, request),
    'run.steer': (request) => steer(deps, scheduler, request),
  };
}
