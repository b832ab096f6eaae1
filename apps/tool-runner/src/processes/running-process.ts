import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { endState, type ProcessEnd } from './process-end.ts';
import { type ProcessFacts, processRecord } from './process-facts.ts';
import type { ProcessFiles, ProcessMeta } from './process-files.ts';
import { currentBootId, groupRuns, identityOf, isSameProcess } from './process-identity.ts';
import { ProcessLog } from './process-log.ts';

/** Waits of process control in milliseconds. */
export interface ProcessTimings {
  /** How long the first, polite signal of a stop may take. */
  readonly processTerminateMs: number;
  /** How long what a command left behind may take to go. */
  readonly processDrainMs: number;
  /** Shortest time between two facts about growing output. */
  readonly processSnapshotMs: number;
}

/** What a running command needs of its surroundings. */
export interface ProcessPorts {
  readonly files: ProcessFiles;
  readonly facts: ProcessFacts;
  readonly timings: ProcessTimings;
  /** The whole environment of commands. */
  readonly environment: Readonly<Record<string, string>>;
  /** Told of what went wrong beside a command: its output could not be folded, its facts not be kept. */
  readonly report: (error: unknown) => void;
}

const LOOK_MS = 100;
/** Facts about an output that goes on growing become rarer up to this, so that a chatty command fills no journal. */
const MAX_SNAPSHOT_MS = 10_000;

/**
 * Runs the command in a login shell of its own and writes its exit status to file 3, which the command does not get: a
 * runner that comes later has no other way to learn how a command ended that is no child of its own.
 * NOTE: signals go to the whole group. A trap that does nothing lets this shell live until the command has ended in its
 * own way, and gives the command the signal's default: an ignored one would be ignored by the command too. The subshell
 * keeps what this shell has to say of signals ("Terminated") out of the output.
 */
const RECORD_END =
  'trap : HUP INT QUIT TERM; (exec /bin/sh -lc "$1" 2>&1 3>&-); status=$?; echo "$status" >&3; exit "$status"';

/** One command that runs: started here, or found again after a restart of the runner. */
export class RunningProcess {
  readonly log: ProcessLog;
  /** Resolves when the command has ended and that is on record. */
  readonly ended: Promise<void>;
  #meta: ProcessMeta;
  readonly #ports: ProcessPorts;
  readonly #pid: number;
  #stopping = false;
  #released = false;
  #looking: NodeJS.Timeout | null = null;
  #recordedBytes = 0;
  #snapshotMs: number;
  #nextSnapshotAt = 0;

  private constructor(meta: ProcessMeta, pid: number, ports: ProcessPorts, exited: Promise<ExitFact>) {
    this.#meta = meta;
    this.#pid = pid;
    this.#ports = ports;
    this.#snapshotMs = ports.timings.processSnapshotMs;
    this.log = new ProcessLog(ports.files.logPath(meta.threadId, meta.processId), meta.omittedBytes);
    this.ended = exited.then((fact) => this.#end(fact));
    this.#look();
  }

  /** Starts a command whose intent is on record. Rejects with what the system says if it cannot be started. */
  static async start(intent: ProcessMeta, ports: ProcessPorts): Promise<RunningProcess> {
    const paths = ports.files.prepare(intent.threadId, intent.processId);
    const log = openSync(paths.log, 'a', 0o600);
    const exit = openSync(paths.exit, 'w', 0o600);
    let child: ChildProcess;
    try {
      child = spawn('/bin/sh', ['-c', RECORD_END, 'sh', intent.command], {
        cwd: intent.cwd,
        env: ports.environment,
        // A session of its own: signals of the runner's terminal do not reach it, and it can outlive the runner.
        detached: true,
        // What the outer shell itself has to say, such as "Killed", is no output of the command.
        stdio: ['ignore', log, 'ignore', exit],
      });
    } finally {
      closeSync(log);
      closeSync(exit);
    }
    const { pid } = child;
    const exited = exitOf(child);
    if (pid === undefined) throw (await exited).error ?? new Error('no process was made');
    child.unref();
    const meta: ProcessMeta = {
      ...intent,
      state: 'running',
      errorCode: null,
      pid,
      startMark: identityOf(pid)?.startMark ?? null,
      bootId: currentBootId(),
      startedAt: new Date().toISOString(),
    };
    // At once, before anything is awaited: after a crash only this tells that the process is ours.
    ports.files.save(meta);
    return new RunningProcess(meta, pid, ports, exited);
  }

  /** Takes over a command that an earlier runner started; null where it does not run any more. */
  static adopt(meta: ProcessMeta, ports: ProcessPorts): RunningProcess | null {
    const { pid, startMark, bootId } = meta;
    if (pid === null || !isSameProcess(pid, startMark, bootId)) return null;
    const exited = watchExit(pid, startMark, bootId).then((): ExitFact => {
      const recorded = ports.files.recordedEnd(meta.threadId, meta.processId);
      return { observed: recorded !== null, status: recorded?.status ?? null };
    });
    return new RunningProcess(meta, pid, ports, exited);
  }

  get meta(): ProcessMeta {
    return this.#meta;
  }

  /** Ends the command and all of its group: a polite signal, then a hard one. Resolves when it has ended. */
  async stop(): Promise<void> {
    this.#stopping = true;
    signalGroup(this.#pid, 'SIGTERM');
    const { processTerminateMs } = this.#ports.timings;
    const late = await Promise.race([this.ended, pause(processTerminateMs, 'late' as const, { ref: false })]);
    if (late === 'late') signalGroup(this.#pid, 'SIGKILL');
    await this.ended;
  }

  /** Stops following the command and lets it run on. */
  release(): void {
    this.#released = true;
    if (this.#looking !== null) clearTimeout(this.#looking);
  }

  #look(): void {
    this.#looking = setTimeout(() => {
      if (this.#released) return;
      try {
        if (this.log.foldWhileRunning()) this.#change({ omittedBytes: this.log.omittedBytes });
        this.#snapshot();
      } catch (error) {
        this.#ports.report(error);
      }
      this.#look();
    }, LOOK_MS).unref();
  }

  #snapshot(): void {
    const now = performance.now();
    const total = this.log.total;
    if (total === this.#recordedBytes || now < this.#nextSnapshotAt) return;
    this.#recordedBytes = total;
    this.#nextSnapshotAt = now + this.#snapshotMs;
    this.#snapshotMs = Math.min(this.#snapshotMs * 2, MAX_SNAPSHOT_MS);
    this.#ports.facts.follow(this.#meta, processRecord(this.#meta, this.log));
  }

  #change(change: Partial<ProcessMeta>): void {
    this.#meta = { ...this.#meta, ...change };
    try {
      this.#ports.files.save(this.#meta);
    } catch (error) {
      // The command goes on and so does what is known of it here; only a restart would find the older state.
      this.#ports.report(error);
    }
  }

  async #end(fact: ExitFact): Promise<void> {
    if (this.#released) return;
    await endGroup(this.#pid, this.#ports.timings.processDrainMs);
    this.release();
    try {
      this.log.foldAfterEnd();
    } catch (error) {
      this.#ports.report(error);
    }
    this.#change({
      ...endState(fact, this.#stopping),
      finishedAt: new Date().toISOString(),
      omittedBytes: this.log.omittedBytes,
    });
    this.#ports.facts.follow(this.#meta, processRecord(this.#meta, this.log));
  }
}

interface ExitFact extends ProcessEnd {
  readonly error?: Error;
}

function exitOf(child: ChildProcess): Promise<ExitFact> {
  return new Promise((resolve) => {
    child.once('exit', (status) => resolve({ observed: true, status }));
    child.once('error', (error) => resolve({ observed: true, status: null, error }));
  });
}

async function watchExit(pid: number, startMark: number | null, bootId: string): Promise<void> {
  while (isSameProcess(pid, startMark, bootId)) await pause(LOOK_MS, undefined, { ref: false });
}

/** What the root of a command left behind in its group goes too. */
async function endGroup(group: number, drainMs: number): Promise<void> {
  if (!groupRuns(group)) return;
  signalGroup(group, 'SIGTERM');
  const deadline = performance.now() + drainMs;
  while (performance.now() < deadline) {
    if (!groupRuns(group)) return;
    await pause(20, undefined, { ref: false });
  }
  signalGroup(group, 'SIGKILL');
}

function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // It has gone meanwhile, which is what was wanted.
  }
}
