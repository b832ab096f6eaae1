import { afterFailure, type BackoffState, backoffTimings, isFailing, noFailures } from './backoff.ts';

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** What kept it from serving, where more is known than how it ended. */
  reason?: string;
}

/** A started process, as the supervisor sees it. */
export interface Launched {
  pid: number;
  exited: Promise<Exit>;
  /** Resolves once it serves; never, where it ends before. */
  ready: Promise<void>;
  /** SIGTERM, then SIGKILL after `graceMs`; resolves when it is gone. */
  stop(graceMs: number): Promise<void>;
  kill(): void;
}

export type SupervisedState = 'starting' | 'running' | 'waiting' | 'failing' | 'stopped';

export interface SupervisedOptions {
  name: string;
  /** Starts it and returns at once, so that it can be ended at any time; throws where it cannot be started. */
  launch(): Launched;
  say(text: string): void;
  /** Called after each start and end, to record who runs. */
  changed(): void;
  baseMs: number;
  capMs: number;
  /** Ends before its first readiness after which `start` gives up. */
  firstAttempts: number;
  /** Milliseconds that the first readiness may take. */
  readyMs: number;
}

/** Exit code of a service whose settings are invalid or whose port is taken: trying again changes nothing. */
const configurationExit = 78;

const failureText = ({ code, signal, reason }: Exit): string =>
  reason ?? (signal ? `ended by ${signal}` : `ended with code ${code}`);

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Keeps one process running: starts it again with a doubling wait whenever it ends without being told to. */
export class Supervised {
  readonly name: string;
  state: SupervisedState = 'stopped';
  restarts = 0;
  readonly #options: SupervisedOptions;
  #backoff: BackoffState = noFailures;
  #current: Launched | null = null;
  #wanted = false;
  #atOnce = false;
  #loop: Promise<void> = Promise.resolve();
  #wake: () => void = () => {};
  #first: { resolve(): void; reject(reason: string): void } | null = null;

  constructor(options: SupervisedOptions) {
    this.name = options.name;
    this.#options = options;
  }

  get pid(): number | null {
    return this.#current?.pid ?? null;
  }

  /** True while it ended so often of late that starting it again does not seem to help; it is tried all the same. */
  get failing(): boolean {
    return isFailing(this.#backoff, Date.now());
  }

  /** Starts it and keeps it running; resolves at its first readiness, rejects where that does not come. */
  start(): Promise<void> {
    this.#wanted = true;
    this.#atOnce = false;
    const ready = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => this.#giveUp(`is not ready after ${this.#options.readyMs / 1000} s`),
        this.#options.readyMs,
      );
      const settle = (then: () => void) => {
        clearTimeout(timer);
        this.#first = null;
        then();
      };
      this.#first = {
        resolve: () => settle(resolve),
        reject: (reason) => settle(() => reject(new Error(`${this.name} ${reason}`))),
      };
    });
    this.#loop = this.#run().catch((error: unknown) => this.#giveUp(messageOf(error)));
    return ready;
  }

  /** Ends it for good; a `start` that still waits is rejected. */
  async stop(graceMs: number): Promise<void> {
    this.#unwant('was stopped');
    await this.#current?.stop(graceMs);
    await this.#loop;
    this.state = 'stopped';
  }

  /** Ends it at once, for a person who will not wait. */
  kill(): void {
    this.#unwant('was stopped');
    this.#current?.kill();
  }

  /** Ends it, so that the loop starts it again at once (its program changed); one that waits for its next start gets it now. */
  async restart(graceMs: number): Promise<void> {
    if (this.#current === null) {
      this.#wake();
      return;
    }
    this.#atOnce = true;
    await this.#current.stop(graceMs);
  }

  #giveUp(reason: string): void {
    this.#unwant(reason);
    this.#current?.kill();
  }

  #unwant(reason: string): void {
    this.#wanted = false;
    this.#wake();
    this.#first?.reject(reason);
  }

  /** A record that cannot be written must not end what it is about. */
  #changed(): void {
    try {
      this.#options.changed();
    } catch (error) {
      this.#options.say(`${this.name}: who runs could not be recorded (${messageOf(error)})`);
    }
  }

  async #run(): Promise<void> {
    const { baseMs, capMs, say } = this.#options;
    const timings = { ...backoffTimings, baseMs, capMs };
    while (this.#wanted) {
      this.state = 'starting';
      const startedAt = Date.now();
      const end = await this.#once();
      this.#current = null;
      this.#changed();
      if (!this.#wanted) return;
      this.restarts += 1;
      if (this.#atOnce) {
        this.#atOnce = false;
        this.#backoff = noFailures;
        continue;
      }
      this.#backoff = afterFailure(this.#backoff, Date.now(), Date.now() - startedAt, timings);
      const count = this.#backoff.failedAt.length;
      if (this.#first !== null && (end.hopeless || count >= this.#options.firstAttempts)) {
        this.#giveUp(end.reason);
        return;
      }
      const failing = this.failing;
      this.state = failing ? 'failing' : 'waiting';
      const loud = failing ? ` (failing: ${count} times within a minute; it goes on trying)` : '';
      say(`${this.name} ${end.reason}; starting it again in ${this.#backoff.delayMs} ms${loud}`);
      await this.#pause(this.#backoff.delayMs);
    }
  }

  async #once(): Promise<{ reason: string; hopeless: boolean }> {
    try {
      const launched = this.#options.launch();
      this.#current = launched;
      this.#changed();
      void launched.ready.then(() => {
        if (this.#current !== launched) return;
        this.state = 'running';
        this.#first?.resolve();
      });
      const exit = await launched.exited;
      return { reason: failureText(exit), hopeless: exit.code === configurationExit };
    } catch (error) {
      return { reason: messageOf(error), hopeless: false };
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
