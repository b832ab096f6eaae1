import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { dirname, join } from 'node:path';
import { endWithParent } from './end-with-parent.ts';
import { sleep } from './eventually.ts';

export interface ServiceProcessOptions {
  /** Name of its bundle. */
  name: string;
  /** Folder of the bundles. */
  dist: string;
  env: NodeJS.ProcessEnv;
  logPath: string;
  restartMs: number;
}

/** Long, since a machine may be slow: a service that is ready sooner is not held up by it. */
const READY_MS = 180_000;

/** One service as a process, started again whenever it ends, as the supervisor does it. */
export class ServiceProcess {
  readonly name: string;
  /** Number of starts so far. */
  starts = 0;
  /** How its last process ended; null while none has. */
  lastExit: { code: number | null; signal: NodeJS.Signals | null } | null = null;
  readonly #options: ServiceProcessOptions;
  readonly #log: WriteStream;
  #child: ChildProcess | null = null;
  #ready: Promise<void> = Promise.resolve();
  #wanted = false;
  #loop: Promise<void> = Promise.resolve();

  constructor(options: ServiceProcessOptions) {
    this.name = options.name;
    this.#options = options;
    mkdirSync(dirname(options.logPath), { recursive: true });
    this.#log = createWriteStream(options.logPath, { flags: 'a' });
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error(`${this.name} does not run`);
    return pid;
  }

  get running(): boolean {
    return this.#child !== null;
  }

  /** Starts it and waits until it says that it is ready; `once` are variables of this start only, such as FAULT. */
  async up(once: NodeJS.ProcessEnv = {}): Promise<void> {
    this.#wanted = true;
    this.#launch(once);
    this.#loop = this.#keep();
    await this.#ready;
  }

  /** Resolves when start number `starts` (or a later one) is ready. */
  async started(starts: number, timeoutMs = READY_MS): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      if (this.starts >= starts && this.#child !== null) {
        const ready = await Promise.race([
          this.#ready.then(
            () => true,
            () => false,
          ),
          sleep(timeoutMs).then(() => false),
        ]);
        if (ready) return;
      }
      if (performance.now() > deadline) throw new Error(`${this.name} was not started again in ${timeoutMs} ms`);
      await sleep(10);
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Ends it with a signal and keeps it down. */
  async down(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.#wanted = false;
    this.#child?.kill(signal);
    if (signal !== 'SIGKILL') {
      const timer = setTimeout(() => this.#child?.kill('SIGKILL'), 10_000);
      await this.#loop;
      clearTimeout(timer);
    }
    await this.#loop;
  }

  async close(): Promise<void> {
    await this.down();
    await new Promise<void>((resolve) => this.#log.end(resolve));
  }

  #launch(extra: NodeJS.ProcessEnv): void {
    this.starts += 1;
    const child = spawn(process.execPath, [join(this.#options.dist, `${this.name}.mjs`)], {
      env: { ...this.#options.env, ...extra },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#child = child;
    // Its own way of noticing that its parent is gone is to stop in order, which takes long without NATS.
    if (child.pid !== undefined) child.once('exit', endWithParent(child.pid));
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => this.#log.write(text));
    child.once('exit', (code, signal) => {
      this.lastExit = { code, signal };
    });
    this.#ready = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${this.name} was not ready in ${READY_MS} ms`)), READY_MS);
      child.on('message', (message) => {
        if ((message as { type?: unknown }).type !== 'ready') return;
        clearTimeout(timer);
        resolve();
      });
      child.once('exit', (code, signal) => {
        clearTimeout(timer);
        reject(
          new Error(`${this.name} ended with ${signal ?? code} before it was ready; see ${this.#options.logPath}`),
        );
      });
    });
    this.#ready.catch(() => {});
  }

  async #keep(): Promise<void> {
    for (;;) {
      const child = this.#child;
      if (child === null) return;
      if (child.exitCode === null && child.signalCode === null)
        await new Promise((resolve) => child.once('exit', resolve));
      this.#child = null;
      if (!this.#wanted) return;
      await sleep(this.#options.restartMs);
      if (!this.#wanted) return;
      this.#launch({});
    }
  }
}
