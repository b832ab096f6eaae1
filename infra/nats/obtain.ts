import { AppError } from '@rookery/protocol';
import { debianMachine, fetchFromDebian } from './fetch-debian.ts';
import { fetchRelease } from './fetch-release.ts';
import { type FoundServer, locateServer } from './locate.ts';

/**
 * Finds nats-server 2.15 or newer, or fetches it into the project's cache. NATS_MISSING, with what was tried,
 * where neither works; NATS_TOO_OLD and CONFIG_INVALID as `locateServer`.
 */
export async function obtainServer(
  env: NodeJS.ProcessEnv = process.env,
  say: (text: string) => void = () => {},
): Promise<FoundServer> {
  const { found, rejected } = await locateServer(env);
  if (found) return found;
  const tried = rejected.map(({ path, reason }) => `${path}: ${reason}`);
  for (const text of tried) say(`passed over ${text}`);
  const machine = await debianMachine();
  if (machine) {
    say('fetching it from the newest suite of your own Debian mirror (the system is not touched)');
    const failure = await attempt(() => fetchFromDebian(machine, env));
    if (failure !== null) tried.push(failure);
  }
  if (!(await locateServer(env)).found) {
    say('fetching the official release');
    const failure = await attempt(() => fetchRelease({ env }));
    if (failure !== null) tried.push(failure);
  }
  const fetched = (await locateServer(env)).found;
  if (fetched) return fetched;
  throw new AppError('NATS_MISSING', {
    message: `No nats-server 2.15 or newer. Tried: ${tried.join(' | ')}. Install one, or set ROOKERY_NATS_SERVER to its path.`,
    details: { tried },
  });
}

async function attempt(fetchIt: () => Promise<string>): Promise<string | null> {
  try {
    await fetchIt();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
