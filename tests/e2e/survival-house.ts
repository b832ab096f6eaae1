import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectAs, eventually, testTimings } from '@rookery/testkit';
import { clearHouse, isRunning, type RunningHouse, startScript, temporaryHome } from '../service/running-house.ts';

/** Runs that the agent works on at a time, and so the most that a kill of it can interrupt. */
export const WORKERS = 8;

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
  /** SIGKILLs a process; `restarted` resolves when the supervisor has started it again and it is ready. */
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
    ROOKERY_AGENT_WORKERS: String(WORKERS),
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
      return (await nc.request(subject, '', { timeout: 30_000 })).json<T>();
    } finally {
      await nc.close();
    }
  };
  /** How often a process was ready so far; nats-server, which tells nobody, answers or does not. */
  const timesReady = async (name: Victim): Promise<number> => {
    if (name === 'nats-server') return (await ask('system', '$SYS.REQ.SERVER.PING.VARZ')) === undefined ? 0 : 1;
    const log = await readFile(join(home, 'logs', `${name}.log`), 'utf8');
    return log.split('"msg":"started"').length - 1;
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
      const before = name === 'nats-server' ? 0 : await timesReady(name);
      process.kill(pid, 'SIGKILL');
      const other = async () => {
        const now = (await house.pids())[name];
        return now !== undefined && now !== pid && isRunning(now) && (await timesReady(name)) > before;
      };
      const again = eventually(`the supervisor to start ${name} again`, other, { timeoutMs: 60_000 });
      return { restarted: again.then(() => {}) };
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
