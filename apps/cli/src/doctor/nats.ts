import { type Bus, openBucket, verifyProvisioned } from '@rookery/bus';
import { JOURNAL, MEMORY } from '@rookery/protocol';
import { connectNats, natsUrl, reachableServer } from '../nats-connection.ts';
import { type Finding, reason } from './finding.ts';

/** Names of the services, by their NATS user, with the name that their log has. */
const services = {
  gateway: 'gateway',
  agent: 'agent',
  tool: 'tool-runner',
  memory: 'memory',
  channels: 'channels',
} as const;

async function withBus<T>(home: string, user: string, url: string, work: (bus: Bus) => Promise<T>): Promise<T> {
  const bus = await connectNats(home, user, url);
  try {
    return await work(bus);
  } finally {
    await bus.close();
  }
}

/** The server of NATS, and whether its streams are as they must be. */
export async function checkNats(home: string): Promise<Finding[]> {
  const name = 'nats-server';
  const url = await natsUrl(home);
  if (url === null) return [{ name, state: 'wrong', found: 'does not run', todo: 'Start Rookery: `npm start`.' }];
  const version = await reachableServer(url).catch(() => null);
  if (version === null) {
    const todo = process.env.ROOKERY_NATS_URL
      ? 'Start your server, or correct ROOKERY_NATS_URL.'
      : 'Start Rookery: `npm start`.';
    return [{ name, state: 'wrong', found: `nobody answers at ${url}`, todo }];
  }
  try {
    await withBus(home, 'provision', url, (bus) => verifyProvisioned(bus, [JOURNAL, MEMORY]));
    return [{ name, state: 'ok', found: `${version} at ${url}, provisioned` }];
  } catch (error) {
    return [{ name, state: 'wrong', found: reason(error), todo: 'Run `npx rookery nats init`, or restore a backup.' }];
  }
}

/** Whether an instance of each service says that it lives. */
export async function checkServices(home: string): Promise<Finding[]> {
  const url = await natsUrl(home);
  if (url === null || (await reachableServer(url).catch(() => null)) === null) return [];
  try {
    const keys = await withBus(home, 'supervisor', url, async (bus) =>
      (await openBucket(bus, 'leases')).keys('instance.>'),
    );
    return Object.entries(services).map(([user, name]): Finding => {
      const count = keys.filter((key) => key.startsWith(`instance.${user}.`)).length;
      if (count > 0) return { name, state: 'ok', found: count === 1 ? 'runs' : `${count} run` };
      return { name, state: 'wrong', found: 'does not run', todo: `Its log says why: ${home}/logs/${name}.log` };
    });
  } catch (error) {
    return [{ name: 'services', state: 'wrong', found: reason(error) }];
  }
}
