import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectAs, connectClient, type RpcClient } from '@rookery/testkit';
import { type RunningHouse, startScript } from '../service/running-house.ts';

/** A home that `npm start` runs, as the benchmark sees it. */
export interface BenchHouse {
  home: string;
  url: string;
  token: string;
  nats: { url: string; seed(user: string): string };
  /** Seconds from the start of the command to its last line. */
  startedIn: number;
  client(): Promise<RpcClient>;
  pids(): Promise<Record<string, number>>;
  /** What the server says of itself. */
  varz(): Promise<{ version?: string; jetstream?: { config?: { sync_always?: boolean } } }>;
  /** Bytes that JOURNAL holds. */
  journalBytes(): Promise<number>;
  stop(): Promise<void>;
}

async function readyIn(house: RunningHouse): Promise<number> {
  const started = performance.now();
  await house.printed(/Rookery ready/);
  return (performance.now() - started) / 1000;
}

/** Starts a home with the settings of production and waits until it is ready. */
export async function startBenchHouse(home: string, args: string[] = []): Promise<BenchHouse> {
  const house = startScript(home, { ROOKERY_LOG: 'warn' }, args);
  const startedIn = await readyIn(house);
  const { http } = await house.json<{ http: { host: string; port: number } }>('gateway.json');
  const { url: natsUrl } = await house.json<{ url: string }>('nats.json');
  const nats = {
    url: natsUrl,
    seed: (user: string) => readFileSync(join(home, 'nats/keys', `${user}.nk`), 'utf8').trim(),
  };
  const url = `http://${http.host}:${http.port}`;
  const token = (await readFile(join(home, 'token'), 'utf8')).trim();
  const ask = async <T>(user: string, subject: string): Promise<T> => {
    const nc = await connectAs(nats, user);
    try {
      return (await nc.request(subject, '', { timeout: 5000 })).json<T>();
    } finally {
      await nc.close();
    }
  };
  return {
    home,
    url,
    token,
    nats,
    startedIn,
    client: () => connectClient({ url, token }),
    pids: () => house.pids(),
    varz: async () => (await ask<{ data: object }>('system', '$SYS.REQ.SERVER.PING.VARZ')).data,
    journalBytes: async () =>
      (await ask<{ state: { bytes: number } }>('provision', '$JS.API.STREAM.INFO.JOURNAL')).state.bytes,
    stop: async () => {
      house.child.kill('SIGTERM');
      await house.exited;
    },
  };
}
