import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectAs, eventually, testTimings } from '@rookery/testkit';
import { clearHouse, isRunning, type RunningHouse, startScript, temporaryHome } from '../service/running-house.ts';

/** Names that the supervisor records; the six that are killed. */
export const victims = ['nats-server', 'gateway', 'agent', 'tool-runner', 'memory', 'channels'] as const;
export type Victim = (typeof victims)[number];

/** The product as `npm start` runs it. */
export interface SurvivalHouse {
  home: string;
  url: string;
  token: string;
  nats: { url: string; seed(user: string): string };
  services: readonly string[];
  /** SIGKILLs a process; `restarted` resolves when the supervisor has started it again. */
  kill(name: Victim): Promise<{ restarted: Promise<void> }>;
  /** What the server says of itself. */
  varz(): Promise<{ jetstream?: { config?: { sync_always?: boolean } } }>;
  /** Last sequence of JOURNAL. */
  lastSeq(): Promise<number>;
  output(): string;
  /** SIGTERM, then makes sure that nothing is left; gives the exit code. */
  stop(): Promise<number | null>;
}

/** Starts the product under its supervisor on free ports, with short waits where a person would only wait longer. */
export async function startHouse(): Promise<SurvivalHouse> {
  const home = await temporaryHome();
  const { leaseRefreshMs, leaseTtlMs, presenceTtlMs, orphanLookMs, orphanGraceMs, sweepMs, restartCapMs } = testTimings;
  const timings = { leaseRefreshMs, leaseTtlMs, presenceTtlMs, orphanLookMs, orphanGraceMs, sweepMs, restartCapMs };
  const house = startScript(home, {
    ROOKERY_AGENT_WORKERS: '8',
    ROOKERY_TIMINGS: JSON.stringify({ ...timings, publishTimeoutMs: 2000 }),
  });
  try {
    await house.printed(/Rookery ready/);
    return await describe(house);
  } catch (error) {
    await clearHouse(house);
    throw error;
  }
}

async function describe(house: RunningHouse): Promise<SurvivalHouse> {
  const { home } = house;
  const gateway = await house.json<{ http: { host: string; port: number } }>('gateway.json');
  const { url: natsUrl } = await house.json<{ url: string }>('nats.json');
  const nats = {
    url: natsUrl,
    seed: (user: string) => readFileSync(join(home, 'nats/keys', `${user}.nk`), 'utf8').trim(),
  };
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
    url: `http://${gateway.http.host}:${gateway.http.port}`,
    token: (await readFile(join(home, 'token'), 'utf8')).trim(),
    nats,
    services: victims,
    kill: async (name) => {
      const pid = (await house.pids())[name];
      if (pid === undefined) throw new Error(`${name} does not run`);
      process.kill(pid, 'SIGKILL');
      const other = async () => {
        const now = (await house.pids())[name];
        return now !== undefined && now !== pid && isRunning(now);
      };
      const restarted = eventually(`the supervisor to start ${name} again`, other, { timeoutMs: 20_000 }).then(
        () => {},
      );
      return { restarted };
    },
    varz: async () => (await ask<{ data: object }>('system', '$SYS.REQ.SERVER.PING.VARZ')).data,
    lastSeq: async () =>
      (await ask<{ state: { last_seq: number } }>('provision', '$JS.API.STREAM.INFO.JOURNAL')).state.last_seq,
    output: () => house.output,
    stop: async () => {
      house.child.kill('SIGTERM');
      const code = await house.exited;
      await clearHouse(house);
      return code;
    },
  };
}
