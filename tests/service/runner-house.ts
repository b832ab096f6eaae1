import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Bus, callCommand, connectBus, openConfig } from '@rookery/bus';
import { type Journal, openJournal } from '@rookery/journal';
import {
  type Authorization,
  type CommitEvent,
  type ConfigSection,
  type ConfigValue,
  canonicalSha256,
  commandSubject,
  commitId,
  DEFAULT_AGENT,
  DEFAULT_WORLD,
  formatSubject,
  type ProcessRecord,
  type ToolCallState,
  type ToolInvoke,
  writerName,
} from '@rookery/protocol';
import { createLogger, type RunningService, type ServiceConfig } from '@rookery/service';
import { ensureBundles, eventually, startNats, type TestNats, testTimings } from '@rookery/testkit';
import { start } from '@rookery/tool-runner';

/** The agent instance that holds the runs of these tests. */
export const HOLDER = 'test-0-agent';
export const THREAD = 'thread_00112233445566778899aabbccddeeff';

/** A tool-runner on a real nats-server, with an agent and a gateway that are played by the test. */
export class RunnerHouse {
  readonly nats: TestNats;
  readonly agent: Bus;
  readonly gateway: Bus;
  readonly journal: Journal;
  readonly workspace: string;
  #boots = 0;
  #items = 0;
  #bundles: Promise<string> | null = null;

  private constructor(nats: TestNats, agent: Bus, gateway: Bus) {
    this.nats = nats;
    this.agent = agent;
    this.gateway = gateway;
    this.journal = openJournal(agent, { timings: testTimings });
    this.workspace = join(nats.home, 'workspace');
    mkdirSync(this.workspace);
  }

  static async open(): Promise<RunnerHouse> {
    const nats = await startNats({ timings: testTimings });
    const connect = (user: string): Promise<Bus> =>
      connectBus({ url: nats.url, user, seed: nats.seed(user), name: `test ${user}` });
    return new RunnerHouse(nats, await connect('agent'), await connect('gateway'));
  }

  /** Configuration of a runner in this process. */
  config(): ServiceConfig {
    this.#boots += 1;
    const instance = `test-0-runner${this.#boots}`;
    return {
      service: 'tool',
      home: this.nats.home,
      folder: join(this.nats.home, 'tool-runner/0'),
      slot: 0,
      instance,
      natsUrl: this.nats.url,
      nkeySeed: this.nats.seed('tool'),
      vaultKeys: {},
      timings: testTimings,
      env: { ...process.env, HOME: this.nats.home, ROOKERY_WORKSPACES_ROOT: join(this.nats.home, 'managed') },
      log: createLogger('tool', instance, { ROOKERY_LOG: 'silent' }),
      version: '0.1.0',
    };
  }

  startRunner(): Promise<RunningService> {
    return start(this.config());
  }

  /** The folder of the bundles with fault points, built at most once. */
  bundles(): Promise<string> {
    this.#bundles ??= ensureBundles(true);
    return this.#bundles;
  }

  /** Starts the runner as a process of its own, so that it can be killed; `fault` names where it kills itself. */
  async spawnRunner(fault = ''): Promise<ChildProcess> {
    const child = spawn(process.execPath, [join(await this.bundles(), 'tool-runner.mjs')], {
      env: {
        ...process.env,
        ROOKERY_HOME: this.nats.home,
        ROOKERY_NATS_URL: this.nats.url,
        ROOKERY_TIMINGS: JSON.stringify(testTimings),
        ROOKERY_LOG: 'error',
        FAULT: fault,
      },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const [first] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
    if (first?.type !== 'ready') throw new Error(`the runner ended with ${first}`);
    return child;
  }

  async command<T>(method: string, params: unknown, authorization?: Authorization): Promise<T> {
    const request = { method, params, commandId: 'test', agentId: DEFAULT_AGENT, world: DEFAULT_WORLD };
    const bus = method.startsWith('process.') ? this.gateway : this.agent;
    const subject = commandSubject('tool', method, 'main');
    const signed = authorization === undefined ? request : { ...request, authorization };
    return (await callCommand<T>(bus, subject, signed, { timeoutMs: 10_000 })).result;
  }

  /** Appends a commit of the holder, or of another instance, to a run. */
  async commitRun(runId: string, expected: number, event: CommitEvent, holder = HOLDER): Promise<number> {
    const subject = formatSubject({ kind: 'run', world: DEFAULT_WORLD, threadId: THREAD, runId });
    const result = await this.journal.append({
      subject,
      expected,
      commit: {
        v: 1,
        id: commitId(subject, 'test', expected),
        cause: 'test',
        at: new Date().toISOString(),
        by: writerName('agent', holder),
        agentId: DEFAULT_AGENT,
        events: [event],
      },
    });
    if (result.outcome !== 'committed') throw new Error('the run has another commit');
    return result.streamSeq;
  }

  /** Claims a run and gives a call in it; each call has an item of its own. */
  async call(toolName: string, args: Record<string, unknown>): Promise<ToolInvoke> {
    this.#items += 1;
    const runId = `run_${this.#items}`;
    const claim = { type: 'run.claimed', payload: { holder: HOLDER, epoch: 1 } };
    return {
      itemId: `item_${this.#items}`,
      callId: 'call_1',
      toolName,
      arguments: args,
      argsSha256: canonicalSha256(args),
      threadId: THREAD,
      turnId: 'turn_1',
      runId,
      branchId: 'branch_1',
      stepOrdinal: 1,
      intentSeq: await this.commitRun(runId, 0, claim),
      holder: HOLDER,
      workspaceRoot: this.workspace,
      clientRequestId: 'request_1',
    };
  }

  invoke(call: ToolInvoke, authorization?: Authorization): Promise<ToolCallState> {
    return this.command('invoke', call, authorization);
  }

  /** Invokes a tool in a run of its own and gives its result. */
  async run(toolName: string, args: Record<string, unknown>): Promise<Record<string, unknown> & { ok: boolean }> {
    const call = await this.call(toolName, args);
    let state = await this.invoke(call);
    while (state.state === 'running') {
      state = await this.command<ToolCallState>('inspect', { itemId: call.itemId, waitMs: 1000 });
    }
    if (state.state !== 'done') throw new Error(`the call is ${state.state}`);
    return state.result;
  }

  /** The facts of a process in the order of the journal. */
  async facts(processId: string): Promise<ProcessRecord[]> {
    const subject = formatSubject({ kind: 'process', world: DEFAULT_WORLD, threadId: THREAD, processId });
    const commits = await this.journal.readSubject(subject, 0);
    return commits.flatMap(({ commit }) => commit.events.map((event) => event.payload.process as ProcessRecord));
  }

  /** Waits until a fact of a process has a state. */
  factOf(processId: string, state: string): Promise<ProcessRecord> {
    return eventually(`${state} of ${processId}`, async () =>
      (await this.facts(processId)).find((fact) => fact.state === state && fact.errorCode !== 'start_pending'),
    );
  }

  async configure<S extends ConfigSection>(section: S, value: ConfigValue<S>): Promise<void> {
    const view = await openConfig(this.gateway);
    await view.save(section, value, view.revision(section));
    view.stop();
  }

  file(name: string): string {
    return readFileSync(join(this.workspace, name), 'utf8');
  }

  async close(): Promise<void> {
    await this.agent.close();
    await this.gateway.close();
    await this.nats.stop();
  }
}
