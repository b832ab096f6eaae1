import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectBus, provision } from '@rookery/bus';
import {
  ensureKeys,
  formatListen,
  natsConfiguration,
  natsUsers,
  obtainServer,
  type RunningServer,
  readSeed,
  settlePort,
  startServer,
} from '@rookery/nats';
import { endWithParent } from './end-with-parent.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { testTimings } from './test-timings.ts';

export interface TestCluster {
  /** Addresses of all nodes, separated by commas. */
  url: string;
  seed(user: string): string;
  /** Ends node n (0, 1, 2). */
  kill(node: number): Promise<void>;
  stop(): Promise<void>;
}

const NODES = 3;
const freePort = () => settlePort({ host: '127.0.0.1', port: 0 }, 'ROOKERY_NATS');

/** Three servers on loopback with the project's users, and its streams on all three. */
export async function startNatsCluster(): Promise<TestCluster> {
  const folder = await temporaryFolder('cluster');
  const found = await obtainServer();
  const keys = await ensureKeys(folder.path, natsUsers);
  const nodes = [];
  for (let node = 0; node < NODES; node += 1) nodes.push({ listen: await freePort(), route: await freePort() });
  const routes = nodes.map(({ route }) => `nats://${formatListen(route)}`).join(', ');

  const servers: RunningServer[] = [];
  const killAll = () => {
    for (const server of servers) server.process.kill('SIGKILL');
  };
  const releases: (() => void)[] = [];
  const stop = async () => {
    for (const release of releases) release();
    killAll();
    await Promise.all(servers.map(({ exited }) => exited));
    await folder.remove();
  };

  const seeds: Record<string, string> = {};
  for (const user of natsUsers) seeds[user] = await readSeed(folder.path, user);
  const seed = (user: string): string => {
    const known = seeds[user];
    if (known === undefined) throw new Error(`no NATS user ${user}`);
    return known;
  };
  const url = nodes.map(({ listen }) => `nats://${formatListen(listen)}`).join(',');
  try {
    const starting = nodes.map(async ({ listen, route }, node) => {
      const own = join(folder.path, `node-${node}`);
      await mkdir(own, { recursive: true });
      const text = natsConfiguration({ listen, folder: own, keys }).replace(
        'server_name: rookery',
        `server_name: rookery-${node}`,
      );
      const cluster = `cluster { name: rookery, listen: "${formatListen(route)}", routes: [${routes}] }\n`;
      const configuration = join(own, 'nats.conf');
      await writeFile(configuration, text + cluster);
      const server = await startServer({ binary: found.path, configuration, listen, logFile: join(own, 'nats.log') });
      servers.push(server);
      releases.push(endWithParent(server.pid));
    });
    await Promise.all(starting);
    await provisionWhenElected(url, seed('provision'));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    seed,
    kill: async (node) => {
      servers[node]?.process.kill('SIGKILL');
      await servers[node]?.exited;
    },
    stop,
  };
}

/** Streams can be made only once the cluster has a leader. */
async function provisionWhenElected(url: string, seed: string): Promise<void> {
  const bus = await connectBus({ url, user: 'provision', seed, name: 'testkit provision' });
  const deadline = performance.now() + 20_000;
  try {
    for (;;) {
      try {
        await provision(bus, { replicas: NODES, timings: testTimings });
        return;
      } catch (error) {
        if (performance.now() > deadline) throw error;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    }
  } finally {
    await bus.close();
  }
}
