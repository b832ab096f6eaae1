import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir, hostname } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import {
  AppError,
  type BucketName,
  instanceName,
  limits,
  productionTimings,
  SERVER,
  type Timings,
} from '@rookery/protocol';
import type { Logger } from 'pino';
import { createLogger } from './logger.ts';

/** Names of the services; each is also the name of its NATS user. */
export type ServiceName = 'gateway' | 'agent' | 'tool' | 'memory' | 'channels';

/** What every service is started with. */
export interface ServiceConfig {
  service: ServiceName;
  /** ROOKERY_HOME as an absolute path. */
  home: string;
  /** Folder of this instance's own files. */
  folder: string;
  slot: number;
  /** `host-slot-boot`. */
  instance: string;
  natsUrl: string;
  /** Own nkey seed. */
  nkeySeed: string;
  /** Derived vault keys by bucket, as this service needs them. */
  vaultKeys: Partial<Record<string, Buffer>>;
  timings: Timings;
  env: NodeJS.ProcessEnv;
  log: Logger;
  version: string;
  /** Aborted when the process is told to stop: a start that still waits for something ends with SHUTTING_DOWN. */
  stopping?: AbortSignal;
}

/** Started service. */
export interface RunningService {
  stop(): Promise<void>;
}

export type StartService = (config: ServiceConfig) => Promise<RunningService>;

/** What a version is asked for by: the same everywhere. */
export const VERSION = SERVER.version;

/** Name of each service's program: its bundle, its folder in a home and its log. */
export const programOf: Readonly<Record<ServiceName, string>> = {
  gateway: 'gateway',
  agent: 'agent',
  tool: 'tool-runner',
  memory: 'memory',
  channels: 'channels',
};

/** The service of a program; undefined for a name that is none. */
export function serviceOf(program: string): ServiceName | undefined {
  return (Object.keys(programOf) as ServiceName[]).find((service) => programOf[service] === program);
}

/** Vault buckets that each service may open; it is handed no key of another. */
export const vaultBucketsOf: Readonly<Record<ServiceName, readonly BucketName[]>> = {
  gateway: ['vault_provider', 'vault_channel'],
  agent: ['vault_provider'],
  tool: [],
  memory: [],
  channels: ['vault_channel'],
};

const invalid = (name: string, why: string): AppError =>
  new AppError('CONFIG_INVALID', { message: `${name} ${why}`, details: { name } });

/** ROOKERY_HOME, `~/.rookery` by default. */
export function homeFolder(env: NodeJS.ProcessEnv): string {
  const value = env.ROOKERY_HOME;
  if (value === undefined || value === '') return join(homedir(), '.rookery');
  const expanded = value.startsWith('~/') ? join(homedir(), value.slice(2)) : value;
  if (!isAbsolute(expanded)) throw invalid('ROOKERY_HOME', 'must be an absolute path');
  return resolve(expanded);
}

/** An integer setting within bounds. */
export function integerSetting(
  env: NodeJS.ProcessEnv,
  name: string,
  fallback: number,
  min: number,
  max: number,
): number {
  const text = env[name];
  if (text === undefined || text === '') return fallback;
  const value = Number(text);
  if (!Number.isInteger(value) || value < min || value > max)
    throw invalid(name, `must be a whole number from ${min} to ${max}`);
  return value;
}

function jsonObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** Production waits, with those that ROOKERY_TIMINGS replaces. */
export function timingsFrom(env: NodeJS.ProcessEnv): Timings {
  const text = env.ROOKERY_TIMINGS;
  if (text === undefined || text === '') return { ...productionTimings };
  const changed = jsonObject(text);
  if (changed === null) throw invalid('ROOKERY_TIMINGS', 'must be a JSON object');
  for (const [name, value] of Object.entries(changed)) {
    const known = Object.hasOwn(productionTimings, name) && Number.isFinite(value) && Number(value) > 0;
    if (!known) throw invalid('ROOKERY_TIMINGS', `has no valid wait ${name}`);
  }
  return { ...productionTimings, ...changed };
}

function natsUrl(env: NodeJS.ProcessEnv, home: string): string {
  if (env.ROOKERY_NATS_URL) return env.ROOKERY_NATS_URL;
  const file = join(home, 'run', 'nats.json');
  if (!existsSync(file)) throw invalid('ROOKERY_NATS_URL', 'is not set and no local nats-server runs');
  const url = jsonObject(readFileSync(file, 'utf8'))?.url;
  if (typeof url !== 'string') throw invalid('ROOKERY_NATS_URL', `is not set and ${file} cannot be read`);
  return url;
}

function seedOf(home: string, user: string): string {
  const file = join(home, 'nats', 'keys', `${user}.nk`);
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new AppError('CONFIG_INVALID', {
      message: `The NATS key ${file} cannot be read; run \`npx rookery nats init\`.`,
      cause,
    });
  }
}

/** Kept for the other services of the same process, since the variable is gone after the first has read it. */
let inheritedKeys: Record<string, Buffer> | undefined;

const VAULT_KEY = /^[0-9a-f]{64}$/i;

function parseVaultKeys(text: string): Record<string, Buffer> {
  const keys = Object.entries(jsonObject(text) ?? { none: null });
  return Object.fromEntries(
    keys.map(([bucket, key]) => {
      // A key that is cut short would seal with another one than the vault was sealed with.
      if (typeof key !== 'string' || !VAULT_KEY.test(key))
        throw invalid('ROOKERY_VAULT_KEYS', 'must be JSON of hexadecimal keys');
      return [bucket, Buffer.from(key, 'hex')];
    }),
  );
}

function vaultKeysFrom(env: NodeJS.ProcessEnv, service: ServiceName): Partial<Record<string, Buffer>> {
  const text = env.ROOKERY_VAULT_KEYS;
  // A key must not be inherited by anything that the service starts.
  delete env.ROOKERY_VAULT_KEYS;
  if (text) inheritedKeys = parseVaultKeys(text);
  return Object.fromEntries(
    Object.entries(inheritedKeys ?? {}).filter(([bucket]) => vaultBucketsOf[service].some((own) => own === bucket)),
  );
}

/** Reads a service's configuration from the environment; CONFIG_INVALID names the setting and what it must be. */
export function readServiceConfig(service: ServiceName, env: NodeJS.ProcessEnv): ServiceConfig {
  const home = homeFolder(env);
  const slot = integerSetting(env, 'ROOKERY_SLOT', 0, 0, 99);
  const instance = instanceName(hostname(), slot, randomBytes(6).toString('hex'));
  return {
    service,
    home,
    folder: join(home, programOf[service], String(slot)),
    slot,
    instance,
    natsUrl: natsUrl(env, home),
    nkeySeed: seedOf(home, service),
    vaultKeys: vaultKeysFrom(env, service),
    timings: timingsFrom(env),
    env,
    log: createLogger(service, instance, env),
    version: VERSION,
  };
}

/** Number of runs that an agent instance works on at once. */
export function agentWorkers(env: NodeJS.ProcessEnv): number {
  return integerSetting(env, 'ROOKERY_AGENT_WORKERS', limits.agentWorkersDefault, 1, limits.agentWorkersMax);
}
