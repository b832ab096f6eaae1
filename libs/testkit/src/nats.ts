import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectBus, provision } from '@rookery/bus';
import {
  edgeKeysOf,
  ensureKeys,
  formatListen,
  natsConfiguration,
  natsUsers,
  obtainServer,
  readSeed,
  settlePort,
  startServer,
} from '@rookery/nats';
import type { Timings } from '@rookery/protocol';
import { endWithParent } from './end-with-parent.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { testTimings } from './test-timings.ts';

export interface NatsOptions {
  /** Window in which the server refuses a repeated message id, in milliseconds. */
  dedupeWindowMs?: number;
  timings?: Partial<Timings>;
  /** False leaves out streams and buckets. */
  provisioned?: boolean;
  /** Limit of the file store in bytes. */
  maxFileStore?: number;
}

/** A real nats-server with the product's own configuration, in a folder of its own. */
export interface TestNats {
  url: string;
  /** Folder that holds nats/nats.conf, nats/keys and nats/store. */
  home: string;
  /** nkey seeds by user name, the system account's user among them. */
  seeds: Readonly<Record<string, string>>;
  homeId: string;
  journalId: string;
  pid(): number;
  /** The user's seed; throws for a name that is no user. */
  seed(user: string): string;
  signal(signal: NodeJS.Signals): void;
  /** SIGKILL, then waits for its end. */
  kill(): Promise<void>;
  /** Starts it again on the same port and store after `kill`. */
  restart(): Promise<void>;
  /** Stops it and removes the folder. */
  stop(): Promise<void>;
}

/** Starts nats-server on a free port of 127.0.0.1 with the permissions of the project, provisioned. */
export async function startNats(options: NatsOptions = {}): Promise<TestNats> {
  const folder = await temporaryFolder('nats');
  const home = folder.path;
  const found = await obtainServer();
  const keys = await ensureKeys(home, natsUsers);
  const listen = await settlePort({ host: '127.0.0.1', port: 0 }, 'ROOKERY_NATS');
  const configuration = join(home, 'nats', 'nats.conf');
  const limit = options.maxFileStore === undefined ? {} : { maxFileStore: options.maxFileStore };
  await writeFile(configuration, natsConfiguration({ listen, folder: join(home, 'nats'), keys, ...limit }));
  const seeds: Record<string, string> = {};
  for (const user of natsUsers) seeds[user] = await readSeed(home, user);

  const launch = () =>
    startServer({ binary: found.path, configuration, listen, logFile: join(home, 'nats', 'nats.log') });
  let server = await launch();
  // A test run that is cut short must not leave a server behind.
  let release = endWithParent(server.pid);

  const url = `nats://${formatListen(listen)}`;
  const seed = (user: string): string => {
    const found = seeds[user];
    if (found === undefined) throw new Error(`no NATS user ${user}`);
    return found;
  };
  const kill = async () => {
    release();
    server.process.kill('SIGKILL');
    await server.exited;
  };
  const stop = async () => {
    await kill();
    await folder.remove();
  };

  let ids = { homeId: '', journalId: '' };
  if (options.provisioned !== false) {
    try {
      ids = await provisionNats(url, seed('provision'), home, options);
    } catch (error) {
      const log = await readFile(join(home, 'nats', 'nats.log'), 'utf8').catch(() => '');
      await stop();
      throw new Error(`provisioning failed; the server's log ends with: ${log.slice(-1500)}`, { cause: error });
    }
  }
  return {
    url,
    home,
    seeds,
    ...ids,
    pid: () => server.pid,
    seed,
    signal: (signal) => {
      server.process.kill(signal);
    },
    kill,
    restart: async () => {
      server = await launch();
      release = endWithParent(server.pid);
    },
    stop,
  };
}

async function provisionNats(
  url: string,
  seed: string,
  home: string,
  options: NatsOptions,
): Promise<{ homeId: string; journalId: string }> {
  const timings = { ...testTimings, ...options.timings };
  if (options.dedupeWindowMs !== undefined) timings.dedupeWindowMs = options.dedupeWindowMs;
  const bus = await connectBus({ url, user: 'provision', seed, name: 'testkit provision' });
  try {
    const { homeId, journalId } = await provision(bus, { replicas: 1, timings, edgeKeys: await edgeKeysOf(home) });
    return { homeId, journalId };
  } finally {
    await bus.close();
  }
}
