import { serveCommands } from '@rookery/bus';
import { openJournal } from '@rookery/journal';
import { type CommandRequest, TOOL_REPLY_MS, type ToolInvoke } from '@rookery/protocol';
import { type Database, openDatabase } from '@rookery/read-model';
import { type Owner, SimulatedBus } from '@rookery/testkit/simulation';
import { Receipts, requireCurrentRun, ToolCalls } from '@rookery/tool-runner/testing';
import type { World } from './world.ts';

const tool = (name: string, mutating: boolean) => ({
  name,
  description: name,
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
  mutating,
});
const RUNNER = 'main';

/** An effect of a tool, at the moment at which it happened. */
export interface Effect {
  itemId: string;
  runId: string;
  /** Last stream sequence at that moment. */
  lastSeq: number;
}

/** The tool-runner: the real calls with receipts and fence, around tools that do nothing but leave a mark. */
export class SimulatedRunner {
  readonly effects: Effect[] = [];
  readonly #world: World;
  readonly #receipts: Database = openDatabase(':memory:', { synchronous: 'FULL' });
  #process: { owner: Owner; bus: SimulatedBus } | null = null;
  #boots = 0;

  constructor(world: World) {
    this.#world = world;
  }

  boot(delayMs = 0): void {
    const { engine } = this.#world;
    this.#boots += 1;
    const owner = engine.owner(`runner-${this.#boots}`);
    engine.after(owner, delayMs, 'boots', () => void this.#start(owner));
  }

  async #start(owner: Owner): Promise<void> {
    const { server, timings, engine } = this.#world;
    const connection = new SimulatedBus(server, owner, { user: 'tool', publishTimeoutMs: timings.publishTimeoutMs });
    this.#process = { owner, bus: connection };
    const { bus } = connection;
    const journal = openJournal(bus, { timings, singleWriter: true });
    const receipts = new Receipts(this.#receipts, owner.name);
    for (const call of receipts.interrupted()) receipts.lose(call.itemId);
    const calls = new ToolCalls({
      receipts,
      userHome: '/home',
      admit: (call, scope) =>
        requireCurrentRun({ ...call, world: scope.world }, (subject) => journal.readLast(subject)),
      run: async (call, context) => {
        const { random } = engine;
        const ms = random.next() * random.pick([5, 200, 4000]);
        await new Promise((resolve) => setTimeout(resolve, ms));
        if (call.toolName === 'read' && context.signal.aborted) {
          return { ok: false, output: 'cancelled', cancelled: true, details: { durationMs: 0, truncated: false } };
        }
        if (call.toolName === 'write') {
          engine.note(owner, `effect ${call.itemId}`);
          this.effects.push({ itemId: call.itemId, runId: call.runId, lastSeq: server.stream.lastSeq });
        }
        await new Promise((resolve) => setTimeout(resolve, random.next() * 5));
        return { ok: random.next() < 0.9, output: `did ${call.callId}`, details: { durationMs: 1, truncated: false } };
      },
      afterEffect: () => undefined,
      now: Date.now,
    });
    const params = <T>(request: CommandRequest) => request.params as T;
    await serveCommands(
      bus,
      { service: 'tool', instance: RUNNER, version: '0', any: false },
      {
        describe: async () => ({ result: { runner: RUNNER, tools: [tool('read', false), tool('write', true)] } }),
        invoke: async (request) => {
          const { world, agentId, authorization } = request;
          const call = params<ToolInvoke>(request);
          return { result: await calls.invoke(call, { world, agentId, authorization }, TOOL_REPLY_MS) };
        },
        inspect: async (request) => {
          const { itemId, waitMs } = params<{ itemId: string; waitMs: number }>(request);
          return { result: await calls.inspect(itemId, waitMs) };
        },
        cancel: async (request) => ({ result: await calls.cancel(params<{ itemId: string }>(request).itemId) }),
        'workspace.prepare': async () => ({
          result: { id: 'workspace_1', rootUri: '/work', name: 'work', kind: 'project' },
        }),
      },
    );
  }

  /** The runner is killed; another one is started after a while. */
  kill(forMs: number): void {
    const running = this.#process;
    if (running === null) return;
    this.#process = null;
    this.#world.engine.kill(running.owner);
    this.#world.server.close(running.bus.link);
    this.boot(forMs);
  }

  close(): void {
    this.#receipts.close();
  }
}
