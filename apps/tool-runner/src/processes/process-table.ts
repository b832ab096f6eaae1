import { limits, processIdOf } from '@rookery/protocol';
import { systemCode, type ToolContext, ToolFailure } from '../tool-call.ts';
import { endState } from './process-end.ts';
import { processRecord } from './process-facts.ts';
import type { ProcessMeta } from './process-files.ts';
import { type LogPage, ProcessLog } from './process-log.ts';
import { type ProcessPorts, RunningProcess } from './running-process.ts';

/** What a command is started with. */
export interface StartRequest {
  readonly command: string;
  /** Absolute existing folder. */
  readonly cwd: string;
  readonly background: boolean;
}

/** A command and a page of its output. */
export interface ProcessPage {
  readonly meta: ProcessMeta;
  readonly page: LogPage;
}

/** Every command of this runner by thread: starts, follows and ends them, and finds them again after a restart. */
export class ProcessTable {
  readonly #runnerId: string;
  readonly #ports: ProcessPorts;
  readonly #running = new Map<string, RunningProcess>();
  /** Threads of commands that are being started, each as often as it has some. */
  readonly #starting: string[] = [];

  constructor(runnerId: string, ports: ProcessPorts) {
    this.#runnerId = runnerId;
    this.#ports = ports;
  }

  /**
   * Starts the command of a tool call, or gives the one that this call has started before. Fails with process_limit,
   * process_invocation_conflict or spawn_failed.
   */
  async start(request: StartRequest, context: ToolContext): Promise<ProcessMeta> {
    const { threadId } = context;
    const processId = processIdOf(context.runId, context.itemId);
    const known = this.#running.get(processId)?.meta ?? this.#ports.files.load(threadId, processId);
    if (known !== null) return sameCommand(known, request);
    if (this.#count(threadId) >= limits.processesPerThread) {
      throw new ToolFailure(
        'process_limit',
        `${limits.processesPerThread} commands run in this thread; stop one first.`,
      );
    }
    this.#starting.push(threadId);
    try {
      return await this.#start(this.#intent(request, context, processId), context.signal);
    } finally {
      this.#starting.splice(this.#starting.indexOf(threadId), 1);
    }
  }

  /** A page of a command's output. Fails with process_not_found or invalid_cursor. */
  read(threadId: string, processId: string, cursor: number): ProcessPage {
    const running = this.#find(threadId, processId);
    const meta = running?.meta ?? this.#ports.files.load(threadId, processId);
    if (meta === null) throw new ToolFailure('process_not_found', 'This thread has no such process.');
    const log = running?.log ?? new ProcessLog(this.#ports.files.logPath(threadId, processId), meta.omittedBytes);
    const page = log.page(cursor, meta.state !== 'running');
    if (page === null) throw new ToolFailure('invalid_cursor', 'The output does not reach this cursor.');
    return { meta, page };
  }

  /** Waits until a command has ended, the time is over or the call is cancelled, then gives a page of its output. */
  async wait(
    threadId: string,
    processId: string,
    cursor: number,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<ProcessPage> {
    this.read(threadId, processId, cursor);
    const running = this.#find(threadId, processId);
    if (running !== null) await settledBefore(running.ended, timeoutMs, signal);
    return this.read(threadId, processId, cursor);
  }

  /** Ends a command and everything it started, then gives a page of its output. Harmless where it has ended. */
  async stop(threadId: string, processId: string, cursor: number): Promise<ProcessPage> {
    this.read(threadId, processId, cursor);
    await this.#find(threadId, processId)?.stop();
    return this.read(threadId, processId, cursor);
  }

  /** After a start of the runner: takes over the commands that still run and settles the others. */
  async adopt(): Promise<void> {
    for (const meta of this.#ports.files.all()) {
      const open = meta.state === 'running' || meta.errorCode === 'start_pending';
      if (!open || meta.runnerId !== this.#runnerId) continue;
      const running = RunningProcess.adopt(meta, this.#ports);
      if (running === null) this.#settleUnseen(meta);
      else this.#follow(running);
    }
  }

  /** Stops following all commands; they run on and are found again at the next start. */
  close(): void {
    for (const running of this.#running.values()) running.release();
    this.#running.clear();
  }

  #find(threadId: string, processId: string): RunningProcess | null {
    const running = this.#running.get(processId);
    return running?.meta.threadId === threadId ? running : null;
  }

  #count(threadId: string): number {
    const running = [...this.#running.values()].filter((entry) => entry.meta.threadId === threadId).length;
    return running + this.#starting.filter((entry) => entry === threadId).length;
  }

  async #start(intent: ProcessMeta, signal: AbortSignal): Promise<ProcessMeta> {
    const { files, facts } = this.#ports;
    files.save(intent);
    try {
      await facts.record(intent, processRecord(intent, null), signal);
    } catch (error) {
      this.#settle(intent, { state: 'terminated', errorCode: 'spawn_failed' });
      throw new ToolFailure('spawn_failed', 'The journal did not take the intent, so nothing was started.', error);
    }
    let running: RunningProcess;
    try {
      running = await RunningProcess.start(intent, this.#ports);
    } catch (error) {
      this.#settle(intent, { state: 'terminated', errorCode: 'spawn_failed' });
      throw new ToolFailure('spawn_failed', `The command could not be started (${systemCode(error)}).`, error);
    }
    const started = running.meta;
    facts.follow(started, processRecord(started, null));
    this.#follow(running);
    return started;
  }

  #follow(running: RunningProcess): void {
    const { processId } = running.meta;
    this.#running.set(processId, running);
    void running.ended.finally(() => this.#running.delete(processId));
  }

  /** A command that ended while no runner was there: as its shell has recorded it, else unknown. */
  #settleUnseen(meta: ProcessMeta): void {
    const recorded = this.#ports.files.recordedEnd(meta.threadId, meta.processId);
    if (recorded === null) {
      this.#settle(meta, { state: 'unknown', errorCode: meta.pid === null ? 'start_interrupted' : 'process_lost' });
    } else {
      const end = endState({ observed: true, status: recorded.status }, false);
      this.#settle(meta, { ...end, finishedAt: recorded.at });
    }
  }

  #settle(meta: ProcessMeta, change: Partial<ProcessMeta> & Pick<ProcessMeta, 'state' | 'errorCode'>): void {
    const log = new ProcessLog(this.#ports.files.logPath(meta.threadId, meta.processId), meta.omittedBytes);
    log.foldAfterEnd();
    const finishedAt = new Date().toISOString();
    const settled = { ...meta, finishedAt, ...change, omittedBytes: log.omittedBytes };
    this.#ports.files.save(settled);
    this.#ports.facts.follow(settled, processRecord(settled, log));
  }

  #intent(request: StartRequest, context: ToolContext, processId: string): ProcessMeta {
    const { world, agentId, threadId, branchId, turnId, runId, itemId, stepOrdinal } = context;
    return {
      version: 1,
      runnerId: this.#runnerId,
      ...{ world, agentId, threadId, branchId, turnId, runId, itemId, stepOrdinal, processId },
      ...{ command: request.command, cwd: request.cwd, background: request.background },
      ...{ state: 'unknown', errorCode: 'start_pending', exitCode: null, pid: null, startMark: null, bootId: '' },
      ...{ startedAt: null, finishedAt: null, omittedBytes: 0 },
    };
  }
}

function sameCommand(known: ProcessMeta, { command, cwd, background }: StartRequest): ProcessMeta {
  if (known.command === command && known.cwd === cwd && known.background === background) return known;
  throw new ToolFailure('process_invocation_conflict', 'This call has started another command before.');
}

/** Waits for a promise, a time or an abort, whichever comes first. */
async function settledBefore(promise: Promise<void>, timeoutMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  let done: () => void = () => {};
  const over = new Promise<void>((resolve) => {
    done = resolve;
  });
  const timer = setTimeout(done, timeoutMs);
  signal.addEventListener('abort', done, { once: true });
  try {
    await Promise.race([promise, over]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', done);
  }
}
