import { readFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { start as startAgent } from '@rookery/agent';
import { start as startChannels } from '@rookery/channels';
import { type RunningGateway, start as startGateway } from '@rookery/gateway';
import { start as startMemory } from '@rookery/memory';
import type { Timings } from '@rookery/protocol';
import { createLogger, type RunningService, type ServiceConfig, type ServiceName } from '@rookery/service';
import {
  type ClientOptions,
  connectClient,
  eventually,
  type RpcClient,
  type ScriptedModel,
  startNats,
  startScriptedModel,
  type TemporaryFolder,
  type TestNats,
  temporaryFolder,
  testTimings,
} from '@rookery/testkit';
import { start as startToolRunner } from '@rookery/tool-runner';
import WebSocket from 'ws';

export const PROVIDER = 'scripted-test';
export const MODEL = 'scripted-v1';

const starters = {
  gateway: startGateway,
  agent: startAgent,
  tool: startToolRunner,
  memory: startMemory,
  channels: startChannels,
} satisfies Record<ServiceName, (config: ServiceConfig) => Promise<RunningService>>;

export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  json(): Record<string, unknown>;
}

export interface HttpQuestion {
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

/** One gateway on a real nats-server, in this process, with what else a test starts. */
export interface GatewayHouse {
  nats: TestNats;
  home: string;
  gateway: RunningGateway;
  url: string;
  token(): Promise<string>;
  start(service: ServiceName, slot?: number): Promise<RunningService>;
  /** Starts a second gateway on a port of its own. */
  startGateway(slot: number): Promise<RunningGateway>;
  model(): Promise<ScriptedModel>;
  client(options?: Partial<ClientOptions>): Promise<RpcClient>;
  http(path: string, question?: HttpQuestion): Promise<HttpAnswer>;
  rpc(method: string, params?: unknown): Promise<Record<string, unknown>>;
  /** The log of everything that was started here. */
  log(): string;
  stop(): Promise<void>;
}

let boots = 0;

export async function startGatewayHouse(timings: Partial<Timings> = {}): Promise<GatewayHouse> {
  const waits = { ...testTimings, ...timings };
  const nats = await startNats({ timings: waits });
  const folder: TemporaryFolder = await temporaryFolder('gateway');
  const home = folder.path;
  const running: RunningService[] = [];
  const lines: string[] = [];
  const vaultKeys = {
    vault_provider: Buffer.alloc(32, 1),
    vault_channel: Buffer.alloc(32, 2),
  };

  const configOf = (service: ServiceName, slot: number): ServiceConfig => {
    boots += 1;
    const instance = `test-${slot}-boot${boots}`;
    const log = createLogger(service, instance, { ROOKERY_LOG: 'debug' });
    // What is logged is kept instead of printed, so that a test can look for what must not be in it.
    for (const level of ['debug', 'info', 'warn', 'error'] as const) {
      log[level] = ((...args: unknown[]) => lines.push(`${level} ${JSON.stringify(args)}`)) as never;
    }
    return {
      service,
      home,
      folder: join(home, service, String(slot)),
      slot,
      instance,
      natsUrl: nats.url,
      nkeySeed: nats.seed(service),
      vaultKeys,
      timings: waits,
      env: {
        PATH: process.env.PATH ?? '',
        HOME: home,
        ROOKERY_HTTP: '127.0.0.1:0',
        ROOKERY_WORKSPACES_ROOT: join(home, 'work'),
      },
      log,
      version: '0.1.0',
    };
  };
  const start = async (service: ServiceName, slot = 0): Promise<RunningService> => {
    const started = await starters[service](configOf(service, slot));
    running.push(started);
    return started;
  };
  const startAnother = async (slot: number): Promise<RunningGateway> => {
    const started = await startGateway(configOf('gateway', slot));
    running.push(started);
    return started;
  };
  let model: ScriptedModel | null = null;
  const gateway = await startAnother(0);
  const url = `http://127.0.0.1:${gateway.address.port}`;
  const token = async () => (await readFile(join(home, 'token'), 'utf8')).trim();

  const http: GatewayHouse['http'] = (path, { method = 'GET', headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
      const request = httpRequest(
        `${url}${path}`,
        { method, headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers } },
        (response) => {
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => parts.push(part));
          response.on('end', () => {
            const answer = Buffer.concat(parts).toString();
            const { statusCode = 0 } = response;
            resolve({ status: statusCode, headers: response.headers, text: answer, json: () => JSON.parse(answer) });
          });
        },
      );
      request.on('error', reject);
      request.end(text);
    });

  return {
    nats,
    home,
    gateway,
    url,
    token,
    start,
    startGateway: startAnother,
    async model() {
      model ??= await startScriptedModel();
      return model;
    },
    client: async (options = {}) => await connectClient({ url, token: await token(), ...options }),
    http,
    async rpc(method, params = {}) {
      const answer = await http('/rpc/v1', {
        method: 'POST',
        headers: { authorization: `Bearer ${await token()}` },
        body: { jsonrpc: '2.0', id: 1, method, params },
      });
      const reply = answer.json();
      if (reply.error !== undefined) throw Object.assign(new Error('refused'), reply.error);
      return reply.result as Record<string, unknown>;
    },
    log: () => lines.join('\n'),
    async stop() {
      for (const service of running.reverse()) await service.stop().catch(() => undefined);
      await model?.stop();
      await nats.stop();
      await folder.remove();
    },
  };
}

/** Status of an upgrade that was refused, or 101 for one that was not. */
export function upgradeStatus(url: string, headers: Record<string, string>, protocols: string[] = []): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace(/^http/, 'ws'), protocols, { headers });
    socket.on('open', () => {
      socket.terminate();
      resolve(101);
    });
    socket.on('unexpected-response', (_request, response) => {
      socket.terminate();
      resolve(response.statusCode ?? 0);
    });
    socket.on('error', (error) => reject(error));
  });
}

export interface TestThread {
  threadId: string;
  branchId: string;
}

export async function newThread(client: RpcClient, params: object = {}): Promise<TestThread> {
  const { thread } = await client.request<{ thread: { id: string; defaultBranchId: string } }>('thread.create', params);
  return { threadId: thread.id, branchId: thread.defaultBranchId };
}

/** Configures the scripted model as a provider. */
export async function useModel(house: GatewayHouse, client: RpcClient): Promise<void> {
  const model = await house.model();
  await client.request('provider.configure', {
    kind: 'custom',
    providerId: PROVIDER,
    displayName: 'Scripted',
    baseUrl: model.url,
    models: [{ id: MODEL, displayName: 'Scripted', contextWindow: 200_000 }],
  });
}

export const waitFor = eventually;
