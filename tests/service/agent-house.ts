import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { start as startAgent } from '@rookery/agent';
import { type Bus, callCommand, connectBus, openConfig } from '@rookery/bus';
import { type Journal, openJournal } from '@rookery/journal';
import {
  AppError,
  type ConfigValue,
  commandSubject,
  DEFAULT_AGENT,
  DEFAULT_WORLD,
  formatSubject,
  type StoredCommit,
  type Thread,
} from '@rookery/protocol';
import { createLogger, type RunningService, type ServiceConfig, type ServiceName } from '@rookery/service';
import {
  eventually,
  type NatsOptions,
  type ScriptedModel,
  startNats,
  startScriptedModel,
  type TestNats,
  testTimings,
} from '@rookery/testkit';
import { start as startToolRunner } from '@rookery/tool-runner';

export const PROVIDER = 'scripted-test';
export const MODEL = 'scripted-v1';

/** Agents and a tool-runner in this process on a real nats-server, with a scripted model. */
export interface AgentHouse {
  nats: TestNats;
  model: ScriptedModel;
  home: string;
  journal: Journal;
  gateway: Bus;
  startAgent(
    slot?: number,
    env?: Record<string, string>,
    other?: Partial<ServiceConfig>,
  ): Promise<RunningService & { instance: string }>;
  startRunner(): Promise<RunningService>;
  /** Another connection as a user, perhaps over a proxy. */
  connect(user: string, url: string): Promise<Bus>;
  command<T = Record<string, unknown>>(method: string, params: unknown, commandId?: string): Promise<T>;
  createThread(): Promise<Thread>;
  startTurn(
    thread: Thread,
    content: string,
    clientRequestId: string,
  ): Promise<{ turnId: string; runId: string; threadId: string }>;
  runCommits(thread: Thread, runId: string): Promise<StoredCommit[]>;
  /** Waits for the settlement of a run and returns all commits of its subject. */
  settled(thread: Thread, runId: string): Promise<StoredCommit[]>;
  stop(): Promise<void>;
}

let boots = 0;

/** A service's configuration as the supervisor would make it. */
export function serviceConfig(
  nats: TestNats,
  home: string,
  service: ServiceName,
  slot: number,
  env: Record<string, string> = {},
): ServiceConfig {
  boots += 1;
  const instance = `test-${slot}-boot${boots}`;
  return {
    service,
    home,
    folder: join(home, service, String(slot)),
    slot,
    instance,
    natsUrl: nats.url,
    nkeySeed: nats.seed(service),
    vaultKeys: {},
    timings: testTimings,
    env: { PATH: process.env.PATH ?? '', HOME: home, ROOKERY_WORKSPACES_ROOT: join(home, 'workspaces'), ...env },
    log: createLogger(service, instance, { ROOKERY_LOG: process.env.TEST_LOG ?? 'silent' }),
    version: '0.1.0',
  };
}

/** Starts nats-server, the model and the configuration; agents and runner are started by the test. */
export async function startAgentHouse(options: NatsOptions = {}): Promise<AgentHouse> {
  const nats = await startNats({ timings: testTimings, ...options });
  const model = await startScriptedModel();
  const home = mkdtempSync(join(tmpdir(), 'rookery-agent-'));
  const gateway = await connectBus({
    url: nats.url,
    user: 'gateway',
    seed: nats.seed('gateway'),
    name: 'test gateway',
  });
  const settings = await openConfig(gateway);
  const providers: ConfigValue<'providers'>['providers'] = {
    [PROVIDER]: {
      displayName: 'Scripted',
      origin: 'custom',
      baseUrl: model.url,
      apiKey: null,
      headers: {},
      models: {
        [MODEL]: {
          displayName: 'Scripted',
          enabled: true,
          supportsTools: true,
          contextWindow: 200_000,
          reasoningEfforts: [],
          reasoningEffort: null,
        },
      },
    },
  };
  await settings.save('providers', { providers }, settings.revision('providers'));
  settings.stop();
  const journal = openJournal(gateway, { timings: testTimings });
  const running: RunningService[] = [];
  let commands = 0;

  const command: AgentHouse['command'] = async (method, params, commandId) => {
    commands += 1;
    const request = {
      method,
      params,
      commandId: commandId ?? `test-${process.pid}-${commands}`,
      agentId: DEFAULT_AGENT,
      world: DEFAULT_WORLD,
    };
    const { result } = await callCommand(gateway, commandSubject('agent', method), request, { timeoutMs: 10_000 });
    return result as never;
  };
  const runSubject = (thread: Thread, runId: string) =>
    formatSubject({ kind: 'run', world: DEFAULT_WORLD, threadId: thread.id, runId });

  return {
    nats,
    model,
    home,
    journal,
    gateway,
    command,
    async startAgent(slot = 0, env = {}, other = {}) {
      const config = { ...serviceConfig(nats, home, 'agent', slot, env), ...other };
      const service = await startAgent(config);
      running.push(service);
      return { ...service, instance: config.instance };
    },
    connect: (user, url) =>
      connectBus({
        url,
        user,
        seed: nats.seed(user),
        name: `test ${user}`,
        publishTimeoutMs: testTimings.publishTimeoutMs,
      }),
    async startRunner() {
      const service = await startToolRunner(serviceConfig(nats, home, 'tool', 0));
      running.push(service);
      return service;
    },
    async createThread() {
      return (await command<{ thread: Thread }>('thread.create', { clientRequestId: `thread-${commands}` })).thread;
    },
    startTurn: (thread, content, clientRequestId) =>
      command('turn.start', {
        threadId: thread.id,
        branchId: thread.defaultBranchId,
        content,
        providerId: PROVIDER,
        modelId: MODEL,
        clientRequestId,
      }),
    runCommits: (thread, runId) => journal.readSubject(runSubject(thread, runId), 0),
    settled: (thread, runId) =>
      eventually(`the end of ${runId}`, async () => {
        const commits = await journal.readSubject(runSubject(thread, runId), 0);
        const ended = commits.some(({ commit }) => commit.events.some((event) => event.type === 'run.settled'));
        if (!ended) throw new AppError('RUN_NOT_FOUND');
        return commits;
      }),
    async stop() {
      for (const service of running.reverse()) await service.stop().catch(() => undefined);
      await gateway.close();
      await model.stop();
      await nats.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** All events of commits in order. */
export function eventsOf(
  commits: readonly StoredCommit[],
): { type: string; itemId?: string | undefined; payload: Record<string, unknown> }[] {
  return commits.flatMap(({ commit }) => commit.events);
}
