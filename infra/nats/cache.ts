import { homedir } from 'node:os';
import { join } from 'node:path';

/** Folder where the project keeps a nats-server that it fetched; the system is never touched. */
export function natsCacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  const base = env.XDG_CACHE_HOME?.startsWith('/') ? env.XDG_CACHE_HOME : join(homedir(), '.cache');
  return join(base, 'rookery', 'nats');
}

/** Path of the fetched binary inside the cache. */
export function cachedBinary(env: NodeJS.ProcessEnv = process.env): string {
  return join(natsCacheFolder(env), 'nats-server');
}
