// A program of its own, as it ends before the services start: what it needs of NATS would else stay in the
// supervisor's memory. `node provision.mjs` reads the supervisor's settings; it prints one line, and ends with 1
// and the error on stderr where it fails.
import { type Bus, connectBus, provision } from '@rookery/bus';
import { edgeKeysOf, readSeed } from '@rookery/nats';
import { AppError, toAppError } from '@rookery/protocol';
import { readSettings } from './settings.ts';

/** A server of our own answers in milliseconds; one that refuses the key or is elsewhere would be waited for for ever. */
const connectMs = 15_000;

async function connectInTime(url: string, seed: string): Promise<Bus> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const message =
        `${url} does not take a connection as user "provision". It must run with the nats.conf that ` +
        '`npx rookery nats init` writes, and be reachable from here.';
      reject(new AppError('JOURNAL_UNAVAILABLE', { message }));
    }, connectMs);
  });
  try {
    return await Promise.race([connectBus({ url, user: 'provision', seed, name: 'provision' }), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function main(): Promise<string> {
  const { home, natsUrl, replicas, timings } = readSettings(process.env);
  if (natsUrl === null) throw new AppError('CONFIG_INVALID', { message: 'ROOKERY_NATS_URL is not set.' });
  const bus = await connectInTime(natsUrl, await readSeed(home, 'provision'));
  try {
    const { created } = await provision(bus, { replicas, timings, edgeKeys: await edgeKeysOf(home) });
    return created.length === 0 ? 'verified' : `created ${created.length} parts`;
  } finally {
    await bus.close();
  }
}

main().then(
  (done) => {
    process.stdout.write(`${done}\n`);
    process.exit(0);
  },
  (error: unknown) => {
    const { code, message } = toAppError(error);
    const cause = code === 'INTERNAL' && error instanceof Error ? `: ${error.message}` : '';
    process.stderr.write(`${JSON.stringify({ code, message: `${message}${cause}` })}\n`);
    process.exit(1);
  },
);
