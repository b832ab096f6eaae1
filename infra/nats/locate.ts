import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { AppError } from '@rookery/protocol';
import { cachedBinary } from './cache.ts';
import { runCommand } from './run.ts';
import { formatVersion, isSupported, type NatsVersion, parseVersion } from './version.ts';

export type NatsOrigin = 'ROOKERY_NATS_SERVER' | 'PATH' | 'cache';

export interface FoundServer {
  path: string;
  version: NatsVersion;
  origin: NatsOrigin;
}

/** A server that was found and not taken, with the reason for a person. */
export interface RejectedServer {
  path: string;
  origin: NatsOrigin;
  reason: string;
}

export interface Location {
  found: FoundServer | null;
  rejected: RejectedServer[];
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function onPath(env: NodeJS.ProcessEnv): string | null {
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const path = join(folder, 'nats-server');
    if (isExecutable(path)) return path;
  }
  return null;
}

async function examine(path: string, origin: NatsOrigin): Promise<FoundServer | RejectedServer> {
  const { code, stdout } = await runCommand(path, ['--version'], { timeoutMs: 10_000 });
  // Any program may print a version; only this one prints it behind its own name.
  const version = code === 0 && /^nats-server/i.test(stdout) ? parseVersion(stdout) : null;
  if (version === null) return { path, origin, reason: 'it does not answer --version as nats-server does' };
  if (!isSupported(version)) {
    const reason = `it is ${formatVersion(version)}; 2.15 or newer is needed, as older ones can lose acknowledged data`;
    return { path, origin, reason };
  }
  return { path, version, origin };
}

/**
 * Looks for nats-server 2.15 or newer: ROOKERY_NATS_SERVER, then PATH, then the project's cache.
 * An older one on PATH or in the cache is passed over; one that a person named is refused
 * (CONFIG_INVALID where it is no nats-server, NATS_TOO_OLD where it is older).
 */
export async function locateServer(env: NodeJS.ProcessEnv = process.env): Promise<Location> {
  const named = env.ROOKERY_NATS_SERVER;
  if (named) return { found: await namedServer(resolve(named)), rejected: [] };
  const rejected: RejectedServer[] = [];
  const candidates: [NatsOrigin, string | null][] = [
    ['PATH', onPath(env)],
    ['cache', cachedBinary(env)],
  ];
  for (const [origin, path] of candidates) {
    if (path === null || !isExecutable(path)) continue;
    const answer = await examine(path, origin);
    if ('version' in answer) return { found: answer, rejected };
    rejected.push(answer);
  }
  return { found: null, rejected };
}

async function namedServer(path: string): Promise<FoundServer> {
  if (!isExecutable(path)) {
    throw new AppError('CONFIG_INVALID', { message: `ROOKERY_NATS_SERVER: ${path} is not an executable file.` });
  }
  const answer = await examine(path, 'ROOKERY_NATS_SERVER');
  if ('version' in answer) return answer;
  const code = answer.reason.startsWith('it is ') ? 'NATS_TOO_OLD' : 'CONFIG_INVALID';
  throw new AppError(code, { message: `ROOKERY_NATS_SERVER: ${path} cannot be used: ${answer.reason}.` });
}
