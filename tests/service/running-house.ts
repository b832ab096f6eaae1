import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

/** A started `npm start` (or its script alone), with what it printed. */
export class RunningHouse {
  readonly home: string;
  readonly child: ChildProcess;
  output = '';
  readonly exited: Promise<number | null>;

  constructor(home: string, command: string, args: string[], env: NodeJS.ProcessEnv) {
    this.home = home;
    this.child = spawn(command, args, { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output += text;
      });
    }
    this.exited = new Promise((done) => this.child.once('exit', (code) => done(code)));
  }

  /** Waits until the output has a match, and gives it; fails at once where the process ended without one. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    let ended = false;
    void this.exited.then(() => {
      ended = true;
    });
    for (;;) {
      const match = pattern.exec(this.output);
      if (match) return match;
      if (ended) throw new Error(`ended without printing ${pattern}:\n${this.output}`);
      await new Promise((done) => setTimeout(done, 20));
    }
  }

  async json<T>(name: string): Promise<T> {
    return JSON.parse(await readFile(join(this.home, 'run', name), 'utf8')) as T;
  }

  /** Pids of the processes under the supervisor by name, and its own as `supervisor`. */
  async pids(): Promise<Record<string, number>> {
    const record = await this.json<{ supervisor: { pid: number }; processes: { name: string; pid: number }[] }>(
      'supervisor.json',
    );
    const processes = record.processes.map(({ name, pid }) => [name, pid]);
    return { ...Object.fromEntries(processes), supervisor: record.supervisor.pid };
  }
}

/** Environment of a house of its own, on ports of its own. */
export function houseEnvironment(home: string, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return {
    ...process.env,
    ROOKERY_HOME: home,
    ROOKERY_HTTP: '127.0.0.1:0',
    ROOKERY_NATS: '127.0.0.1:0',
    ROOKERY_WORKSPACES_ROOT: join(home, 'workspaces'),
    ...more,
  };
}

export function temporaryHome(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'rookery-home-'));
}

/** `npm start` as a person calls it. */
export function npmStart(home: string, env?: NodeJS.ProcessEnv, args: string[] = []): RunningHouse {
  return new RunningHouse(
    home,
    'npm',
    ['start', ...(args.length > 0 ? ['--', ...args] : [])],
    houseEnvironment(home, env),
  );
}

/** The script behind it, for what does not need npm. */
export function startScript(home: string, env?: NodeJS.ProcessEnv, args: string[] = []): RunningHouse {
  return new RunningHouse(home, process.execPath, ['infra/dev/start.mjs', ...args], houseEnvironment(home, env));
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Ends whatever a failed test left, and removes the home. */
export async function clearHouse(house: RunningHouse): Promise<void> {
  const pids = await house.pids().catch(() => ({}));
  for (const pid of [house.child.pid, ...Object.values(pids)]) {
    if (pid !== undefined && isRunning(pid)) process.kill(pid, 'SIGKILL');
  }
  await rm(house.home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
