import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { formatListen, type Listen, parseListen } from '@rookery/nats';
import { AppError } from '@rookery/protocol';

const DEFAULT_HTTP = '127.0.0.1:7420';

/** Absolute path of the home that this command talks to. */
export function homeFolder(env: NodeJS.ProcessEnv = process.env): string {
  const named = env.ROOKERY_HOME;
  if (!named) return join(homedir(), '.rookery');
  return named.startsWith('~/') ? join(homedir(), named.slice(2)) : resolve(named);
}

/** The owner token; UNAUTHORIZED with what to do where it cannot be read. */
export async function readToken(home: string): Promise<string> {
  const path = join(home, 'token');
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const reason =
      error.code === 'ENOENT'
        ? `There is no token at ${path}. Start Rookery once (npm start), or set ROOKERY_HOME to the home that runs.`
        : `The token at ${path} cannot be read (${error.code}).`;
    throw new AppError('UNAUTHORIZED', { message: reason });
  });
  return text.trim();
}

/** A JSON file under run/, or null where it is missing or damaged. */
export async function readRunFile(home: string, name: string): Promise<Record<string, unknown> | null> {
  try {
    const value: unknown = JSON.parse(await readFile(join(home, 'run', name), 'utf8'));
    return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** A listener on all addresses is reached on loopback. */
function reachable({ host, port }: Listen): Listen {
  if (host === '0.0.0.0') return { host: '127.0.0.1', port };
  return host === '::' ? { host: '::1', port } : { host, port };
}

/**
 * Base URL of the gateway: what ROOKERY_HTTP names, else what the running one wrote, else the default.
 * Read again at each connection, as a restarted gateway may have another port.
 */
export async function gatewayUrl(home: string, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const named = env.ROOKERY_HTTP ? parseListen(env.ROOKERY_HTTP, 'ROOKERY_HTTP') : null;
  const record = (await readRunFile(home, 'gateway.json'))?.http as Partial<Listen> | undefined;
  const written =
    typeof record?.host === 'string' && typeof record.port === 'number'
      ? { host: record.host, port: record.port }
      : null;
  const listen = named !== null && named.port !== 0 ? named : (written ?? parseListen(DEFAULT_HTTP, 'ROOKERY_HTTP'));
  return `http://${formatListen(reachable(listen))}`;
}
