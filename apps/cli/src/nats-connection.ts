import { type Bus, connectBus } from '@rookery/bus';
import { formatVersion, type Listen, parseVersion, readSeed, readServerInfo } from '@rookery/nats';
import { AppError } from '@rookery/protocol';
import { readRunFile } from './home.ts';

const CONNECT_MS = 10_000;

/** The servers of a home: an option, ROOKERY_NATS_URL, or the embedded one that runs; null where none is known. */
export async function natsUrl(
  home: string,
  given?: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string | null> {
  const named = given ?? env.ROOKERY_NATS_URL;
  if (named) return named;
  const url = (await readRunFile(home, 'nats.json'))?.url;
  return typeof url === 'string' ? url : null;
}

function listenOf(url: string): Listen {
  if (!URL.canParse(url))
    throw new AppError('CONFIG_INVALID', { message: 'The NATS address is not nats://host:port.' });
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 4222) };
}

/** Version text of the first server of a list that answers, or null. */
export async function reachableServer(urls: string): Promise<string | null> {
  for (const url of urls.split(',')) {
    const info = await readServerInfo(listenOf(url.trim()), 2000);
    const version = parseVersion(`nats-server: v${String(info?.version ?? '')}`);
    if (info !== null) return version === null ? String(info.version) : formatVersion(version);
  }
  return null;
}

/**
 * Connects as a user of the home. JOURNAL_UNAVAILABLE where no server answers or it refuses the key: the client
 * itself would wait for ever.
 */
export async function connectNats(home: string, user: string, urls: string): Promise<Bus> {
  const seed = await readSeed(home, user);
  if ((await reachableServer(urls)) === null) {
    throw new AppError('JOURNAL_UNAVAILABLE', {
      message: `No nats-server answers at ${urls}. Start Rookery or the server first.`,
    });
  }
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const message = `The server at ${urls} does not accept the key of user "${user}": it must run with ${home}/nats/nats.conf.`;
      reject(new AppError('JOURNAL_UNAVAILABLE', { message }));
    }, CONNECT_MS);
  });
  try {
    return await Promise.race([connectBus({ url: urls, user, seed, name: `rookery cli (${user})` }), late]);
  } finally {
    clearTimeout(timer);
  }
}
