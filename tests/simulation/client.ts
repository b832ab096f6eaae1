import { callCommand } from '@rookery/bus';
import { AppError, commandIdOf, commandSubject } from '@rookery/protocol';
import type { Operation } from '@rookery/testkit';
import { type Owner, SimulatedBus } from '@rookery/testkit/simulation';
import type { World } from './world.ts';

export interface Asked {
  method: string;
  params: Record<string, unknown>;
  /** What makes the id of the command stable. */
  scope: string;
  clientRequestId: string | null;
  /** What must stand in the journal if this was acknowledged; null where an answer says all. */
  fact: Operation['fact'] | null;
  /** Attempts after which the person gives up. */
  attempts: number;
}

const AGENT = { agentId: 'main', world: 'home' };

/** The edge: sends commands as the gateway does, and remembers what was asked and answered. */
export class SimulatedClient {
  readonly operations: Operation[] = [];
  readonly owner: Owner;
  readonly #world: World;
  readonly #bus: SimulatedBus;
  #commands = 0;
  /** Commands that have not come to an end. */
  open = 0;

  constructor(world: World) {
    this.#world = world;
    this.owner = world.engine.owner('client');
    this.#bus = new SimulatedBus(world.server, this.owner, {
      user: 'gateway',
      publishTimeoutMs: world.timings.publishTimeoutMs,
    });
  }

  /** Does something at a time, as this process. */
  at(delayMs: number, what: string, work: () => Promise<unknown>): void {
    this.open += 1;
    this.#world.engine.after(this.owner, delayMs, what, () => {
      void work().finally(() => {
        this.open -= 1;
      });
    });
  }

  /** Sends one command until it is answered for good; null where it was refused or given up. */
  async ask(asked: Asked): Promise<{ result: Record<string, unknown>; seq?: number } | AppError> {
    const { engine, timings, server, weather } = this.#world;
    const { method, params, scope, clientRequestId, fact } = asked;
    // A change without a name of its own is known again by the server alone, for as long as it knows message ids.
    const mayRepeat = clientRequestId !== null || weather.dedupeMs > timings.commandTimeoutMs;
    let last = new AppError('SERVICE_UNAVAILABLE');
    for (let attempt = 0; attempt < asked.attempts; attempt += 1) {
      this.#commands += 1;
      const own = `command-${this.#commands}`;
      const commandId = clientRequestId === null ? own : commandIdOf(server.homeId, method, scope, clientRequestId);
      const operation: Operation | null = fact === null ? null : { name: method, fact, outcome: 'unknown' };
      if (operation !== null) this.operations.push(operation);
      const started = engine.now;
      try {
        const answer = await callCommand<Record<string, unknown>>(
          this.#bus.bus,
          commandSubject('agent', method, 'any'),
          { method, params, commandId, ...AGENT },
          {
            timeoutMs: timings.commandTimeoutMs,
            noResponderMs: timings.commandTimeoutMs / 2,
            ...(mayRepeat ? { attemptMs: timings.publishTimeoutMs } : {}),
          },
        );
        if (operation !== null) operation.outcome = 'ok';
        engine.note(this.owner, `${method} ${clientRequestId ?? own} ok ${answer.seq ?? ''}`);
        return answer;
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        engine.note(this.owner, `${method} ${clientRequestId ?? own} ${error.code}`);
        last = error;
        if (operation !== null) operation.error = error.code;
        if (error.retry === 'never') {
          // After an attempt without an answer, the refusal of a later one does not say what became of the first.
          const repeated = engine.now - started >= timings.publishTimeoutMs;
          if (operation !== null && !repeated) operation.outcome = 'failed';
          return error;
        }
      }
      await new Promise((resolve) => setTimeout(resolve, engine.random.next() * 2000));
    }
    return last;
  }
}
