import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatListen, settlePort } from '@rookery/nats';
import type { Timings } from '@rookery/protocol';
import { ensureBundles } from './bundles.ts';
import { startNats, type TestNats } from './nats.ts';
import { connectClient, type RpcClient } from './rpc-client.ts';
import { ServiceProcess } from './service-processes.ts';
import { testTimings } from './test-timings.ts';

export const serviceNames = ['memory', 'tool-runner', 'agent', 'channels', 'gateway'] as const;
export type TestServiceName = (typeof serviceNames)[number];

export interface RookeryOptions {
  /** Services to start; default all five. */
  services?: readonly TestServiceName[];
  /** Instances of a service, each with a slot of its own; default one. */
  slots?: Partial<Record<TestServiceName, number>>;
  timings?: Partial<Timings>;
  /** Settings of every service. */
  env?: NodeJS.ProcessEnv;
  /** Run the bundles with fault points, so that `withFault` can be used. */
  faults?: boolean;
  /** Base URL of a model server; it becomes provider `test` with model `test-model`. */
  modelUrl?: string;
}

export const TEST_MODEL = { providerId: 'test', modelId: 'test-model' } as const;

/** The whole product as processes of their own, on free ports and in a folder of its own. */
export interface TestRookery {
  url: string;
  token: string;
  home: string;
  nats: TestNats;
  services: readonly TestServiceName[];
  /** The process of a service; `slot` where it has several. */
  service(name: TestServiceName, slot?: number): ServiceProcess;
  client(options?: { protocolVersion?: number }): Promise<RpcClient>;
  /** Starts a service anew so that it kills itself at a fault point (FAULT); the process after that has none. */
  withFault(name: TestServiceName, fault: string): Promise<void>;
  /** SIGKILLs a service, waits until the next process of it is ready. */
  killAndWait(name: TestServiceName, slot?: number): Promise<void>;
  /** What the services logged, the last lines of each; for the message of a failed test. */
  logs(lines?: number): Promise<string>;
  /** Ends all at once. */
  stop(): Promise<void>;
}

/** Starts nats-server and the services from their bundles. */
export async function startRookery(options: RookeryOptions = {}): Promise<TestRookery> {
  const dist = await ensureBundles(options.faults === true);
  const timings = { ...testTimings, ...options.timings };
  const nats = await startNats({ timings, dedupeWindowMs: timings.dedupeWindowMs });
  const { home } = nats;
  const listen = await settlePort({ host: '127.0.0.1', port: 0 }, 'ROOKERY_HTTP');
  const url = `http://${formatListen(listen)}`;
  const token = randomBytes(32).toString('base64url');
  for (const folder of ['run', 'logs']) await mkdir(join(home, folder), { recursive: true, mode: 0o700 });
  await writeFile(join(home, 'token'), `${token}\n`, { mode: 0o600 });
  await writeFile(join(home, 'run', 'nats.json'), JSON.stringify({ url: nats.url, pid: nats.pid() }));
  const vaults = ['vault_provider', 'vault_channel'];
  const keys = Object.fromEntries(vaults.map((bucket) => [bucket, randomBytes(32).toString('hex')]));
  const { FAULT: _fault, ...inherited } = process.env;
  const env: NodeJS.ProcessEnv = {
    ...inherited,
    ROOKERY_HOME: home,
    ROOKERY_NATS_URL: nats.url,
    ROOKERY_HTTP: formatListen(listen),
    ROOKERY_WORKSPACES_ROOT: join(home, 'workspaces'),
    ROOKERY_VAULT_KEYS: JSON.stringify(keys),
    ROOKERY_TIMINGS: JSON.stringify(timings),
    ROOKERY_LOG: 'info',
    ...options.env,
  };

  const processes = new Map<string, ServiceProcess>();
  for (const name of options.services ?? serviceNames) {
    for (let slot = 0; slot < (options.slots?.[name] ?? 1); slot += 1) {
      const service = new ServiceProcess({
        name,
        dist,
        env: { ...env, ROOKERY_SLOT: String(slot) },
        logPath: join(home, 'logs', slot === 0 ? `${name}.log` : `${name}-${slot}.log`),
        restartMs: timings.restartBaseMs,
      });
      processes.set(`${name}/${slot}`, service);
    }
  }
  const service = (name: TestServiceName, slot = 0): ServiceProcess => {
    const found = processes.get(`${name}/${slot}`);
    if (found === undefined) throw new Error(`no ${name} in slot ${slot}`);
    return found;
  };
  const stop = async () => {
    await Promise.all([...processes.values()].map((each) => each.close()));
    await nats.stop();
  };
  const logs = async (lines = 30) => {
    const parts = [...processes.keys()].map(async (key) => {
      const [name = '', slot = '0'] = key.split('/');
      const file = slot === '0' ? `${name}.log` : `${name}-${slot}.log`;
      const text = await readFile(join(home, 'logs', file), 'utf8').catch(() => '');
      return `--- ${key}\n${text.split('\n').slice(-lines).join('\n')}`;
    });
    return (await Promise.all(parts)).join('\n');
  };
  const client: TestRookery['client'] = (given) => connectClient({ url, token, ...given });

  try {
    await Promise.all([...processes.values()].map((each) => each.up()));
    if (options.modelUrl !== undefined) await configureModel(await client(), options.modelUrl);
  } catch (error) {
    const text = await logs();
    await stop();
    throw new Error(`the services did not start:\n${text}`, { cause: error });
  }
  return {
    url,
    token,
    home,
    nats,
    service,
    client,
    services: options.services ?? serviceNames,
    withFault: async (name, fault) => {
      await service(name).down('SIGTERM');
      await service(name).up({ FAULT: fault });
    },
    killAndWait: async (name, slot = 0) => {
      const { starts } = service(name, slot);
      service(name, slot).signal('SIGKILL');
      await service(name, slot).started(starts + 1);
    },
    logs,
    stop,
  };
}

/** Saves a model server as provider `test`. */
export async function configureModel(client: RpcClient, baseUrl: string): Promise<void> {
  await client.request('provider.configure', {
    kind: 'custom',
    providerId: TEST_MODEL.providerId,
    displayName: 'Test',
    baseUrl,
    apiKey: 'test-key',
    models: [{ id: TEST_MODEL.modelId, displayName: 'Test model', contextWindow: 131_072, supportsTools: true }],
  });
  await client.close();
}
