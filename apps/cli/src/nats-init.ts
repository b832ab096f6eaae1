import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { provision } from '@rookery/bus';
import { edgeKeysOf, ensureKeys, natsConfiguration, natsUsers, parseListen } from '@rookery/nats';
import { AppError } from '@rookery/protocol';
import { integerOption, type ParsedArguments, UsageError } from './arguments.ts';
import { homeFolder, readRunFile } from './home.ts';
import { connectNats } from './nats-connection.ts';

function isAlive(pid: unknown): boolean {
  if (typeof pid !== 'number') return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const DEFAULT_LISTEN = '127.0.0.1:4222';

/** The address in a configuration that was written before, or undefined. */
function listenOf(configuration: string | null): string | undefined {
  return /^listen: "([^"]+)"$/m.exec(configuration ?? '')?.[1];
}

async function replaceFile(path: string, text: string): Promise<void> {
  const part = `${path}.${process.pid}.part`;
  await writeFile(part, text, { mode: 0o600 });
  await rename(part, path);
}

/** `rookery nats init`: keys and nats.conf for a server of one's own; streams, once it runs. */
export async function natsInit({ values }: ParsedArguments): Promise<number> {
  const home = homeFolder();
  const url = values.url ?? process.env.ROOKERY_NATS_URL;
  const replicas = integerOption(values, 'replicas', Number(process.env.ROOKERY_REPLICAS || 1));
  if (![1, 3, 5].includes(replicas)) throw new UsageError('--replicas must be 1, 3 or 5');
  const embedded = await readRunFile(home, 'nats.json');
  if (url === undefined && isAlive(embedded?.pid)) {
    throw new AppError('HOME_LOCKED', {
      message: `A nats-server of Rookery itself runs for ${home}; it needs no \`nats init\`.`,
    });
  }

  const folder = join(home, 'nats');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const keys = await ensureKeys(home, natsUsers);
  const path = join(folder, 'nats.conf');
  const present = await readFile(path, 'utf8').catch(() => null);
  // A server that is named runs with the file that is there, and with what was changed in it.
  if (present === null || url === undefined || values.listen !== undefined) {
    const listen = parseListen(values.listen ?? listenOf(present) ?? DEFAULT_LISTEN, '--listen');
    await replaceFile(path, natsConfiguration({ listen, folder, keys }));
    process.stdout.write(
      `Keys of ${natsUsers.length} users are in ${join(folder, 'keys')}, the configuration is ${path}.\n`,
    );
  } else if (Object.values(keys).some((key) => !present.includes(key))) {
    process.stdout.write(
      `${path} does not name all keys: run \`rookery nats init\` without a URL and restart the server with it.\n`,
    );
  }
  if (!url) {
    process.stdout.write(
      `Start the server with it (nats-server -c ${path}), then make the streams:\n` +
        '  ROOKERY_NATS_URL=nats://host:port npx rookery nats init\n',
    );
    return 0;
  }
  const bus = await connectNats(home, 'provision', url);
  try {
    const { created } = await provision(bus, { replicas, edgeKeys: await edgeKeysOf(home) });
    process.stdout.write(created.length === 0 ? 'Everything is there already.\n' : `Created ${created.join(', ')}.\n`);
  } finally {
    await bus.close();
  }
  return 0;
}
