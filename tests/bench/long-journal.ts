import { mkdir, writeFile } from 'node:fs/promises';
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
import { commitHeader, sampleConversation } from '@rookery/testkit';

/** The mix of events is fixed: about 70 % deltas, commits of about 400 bytes. */
const TURNS = 20;
const DELTAS = 40;
const THREADS_AT_ONCE = 20;
const IN_FLIGHT = 2000;

export interface LongJournal {
  events: number;
  commits: number;
  seconds: number;
}

type Publish = (subject: string, data: Uint8Array) => Promise<unknown>;

/** Writes commits in the order of the conversations until there are so many events. */
async function fill(publish: Publish, wanted: number): Promise<LongJournal> {
  const encoder = new TextEncoder();
  const started = performance.now();
  let events = 0;
  let commits = 0;
  let waiting: Promise<unknown>[] = [];
  const pick = (queues: number): number => commits % queues;
  for (let from = 0; events < wanted; from += THREADS_AT_ONCE) {
    for (const { subject, commit } of sampleConversation({
      threads: THREADS_AT_ONCE,
      from,
      turns: TURNS,
      deltas: DELTAS,
      pick,
    })) {
      waiting.push(publish(subject, encoder.encode(JSON.stringify(commit))));
      events += commit.events.length;
      commits += 1;
      if (waiting.length < IN_FLIGHT) continue;
      await Promise.all(waiting);
      waiting = [];
    }
  }
  await Promise.all(waiting);
  return { events, commits, seconds: (performance.now() - started) / 1000 };
}

/**
 * Makes a home whose journal holds so many events of made-up conversations, written by a server that does not sync each of
 * them, and lets `work` use that server.
 */
export async function withLongJournal<T>(
  home: string,
  events: number,
  work: (journal: LongJournal, nats: { url: string; seed(user: string): string }) => Promise<T>,
): Promise<T> {
  const folder = join(home, 'nats');
  await mkdir(folder, { recursive: true });
  const keys = await ensureKeys(home, natsUsers);
  const seeds = new Map<string, string>();
  for (const user of natsUsers) seeds.set(user, await readSeed(home, user));
  const seed = (user: string): string => seeds.get(user) ?? '';
  const listen = await settlePort({ host: '127.0.0.1', port: 0 }, 'ROOKERY_NATS');
  const configuration = join(folder, 'nats.conf');
  await writeFile(configuration, natsConfiguration({ listen, folder, keys, isOffline: true }));
  const { path: binary } = await obtainServer();
  const server = await startServer({ binary, configuration, listen, logFile: join(folder, 'nats.log') });
  const url = `nats://${formatListen(listen)}`;
  const connect = (user: string) => connectBus({ url, user, seed: seed(user), name: 'bench' });
  try {
    const admin = await connect('provision');
    await provision(admin, { edgeKeys: await edgeKeysOf(home) });
    await admin.close();
    // Subjects of processes are the runner's, all others of these conversations the agent's.
    const [agent, tool] = await Promise.all([connect('agent'), connect('tool')]);
    const headers = commitHeader();
    const journal = await fill((subject, data) => {
      const { nc } = subject.includes('.process.') ? tool : agent;
      return nc.request(subject, data, { headers, timeout: 30_000 });
    }, events);
    await Promise.all([agent.close(), tool.close()]);
    return await work(journal, { url, seed });
  } finally {
    await server.stop();
  }
}
