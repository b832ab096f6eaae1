import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureKeys, formatListen, type Listen, natsConfiguration, natsUsers, startServer } from '@rookery/nats';
import { type Launched, Supervised } from './supervised.ts';

export interface NatsProcessOptions {
  home: string;
  binary: string;
  listen: Listen;
  baseMs: number;
  capMs: number;
  say(text: string): void;
  changed(): void;
}

/** Writes keys and nats.conf of a home; the configuration is made anew from the permissions table at each start. */
export async function writeNatsFiles(home: string, listen: Listen): Promise<string> {
  const folder = join(home, 'nats');
  const keys = await ensureKeys(home, natsUsers);
  const path = join(folder, 'nats.conf');
  await writeFile(path, natsConfiguration({ listen, folder, keys }), { mode: 0o600 });
  return path;
}

/** The embedded server of a home, not started yet. It says in run/nats.json where it is. */
export async function superviseNats(options: NatsProcessOptions): Promise<Supervised> {
  const { home, binary, listen, baseMs, capMs, say, changed } = options;
  const configuration = await writeNatsFiles(home, listen);
  const launch = async (): Promise<Launched> => {
    const server = await startServer({ binary, configuration, listen, logFile: join(home, 'nats', 'nats.log') });
    const record = { url: `nats://${formatListen(listen)}`, pid: server.pid };
    await writeFile(join(home, 'run', 'nats.json'), `${JSON.stringify(record)}\n`);
    return {
      pid: server.pid,
      exited: server.exited,
      ready: Promise.resolve(),
      stop: (graceMs) => server.stop(graceMs),
      kill: () => void server.process.kill('SIGKILL'),
    };
  };
  return new Supervised({
    name: 'nats-server',
    launch,
    say,
    changed,
    baseMs,
    capMs,
    firstAttempts: 1,
    readyMs: 120_000,
  });
}
