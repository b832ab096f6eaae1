import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Bus, connectBus } from '@rookery/bus';
import {
  ensureKeys,
  formatListen,
  natsConfiguration,
  natsUsers,
  readSeed,
  settlePort,
  startServer,
} from '@rookery/nats';

export interface OfflineOptions {
  home: string;
  /** The nats-server program. */
  binary: string;
  /** Folder of the store, under `<home>/nats`. */
  store: string;
}

/**
 * Runs a nats-server on a store while the home itself is stopped, for as long as `work` takes. It syncs at its end instead
 * of at every write, which makes a restore a hundred times faster; whoever uses it counts the work as done only behind it.
 */
export async function withOfflineServer<T>(options: OfflineOptions, work: (bus: Bus) => Promise<T>): Promise<T> {
  const { home, binary, store } = options;
  const folder = join(home, 'nats');
  const keys = await ensureKeys(home, natsUsers);
  const listen = await settlePort({ host: '127.0.0.1', port: 0 }, 'ROOKERY_NATS');
  const configuration = join(folder, 'offline.conf');
  await writeFile(configuration, natsConfiguration({ listen, folder, keys, store, isOffline: true }), { mode: 0o600 });
  const server = await startServer({ binary, configuration, listen, logFile: join(folder, 'nats.log') });
  try {
    const seed = await readSeed(home, 'provision');
    const bus = await connectBus({
      url: `nats://${formatListen(listen)}`,
      user: 'provision',
      seed,
      name: 'offline work',
    });
    try {
      return await work(bus);
    } finally {
      await bus.close();
    }
  } finally {
    await server.stop();
  }
}
