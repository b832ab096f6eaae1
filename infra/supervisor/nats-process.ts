import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureKeys, formatListen, type Listen, launchServer, natsConfiguration, natsUsers } from '@rookery/nats';
import { type Exit, type Launched, Supervised } from './supervised.ts';

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

/**
 * Writes run/nats.json, whole or not at all. A server that starts again on a full disk is worth more than its new pid in there:
 * the address is still right.
 */
async function sayWhere(home: string, url: string, pid: number): Promise<void> {
  const path = join(home, 'run', 'nats.json');
  try {
    await writeFile(`${path}.part`, `${JSON.stringify({ url, pid })}\n`);
    await rename(`${path}.part`, path);
  } catch (error) {
    const before = await readFile(path, 'utf8').catch(() => '');
    if (!before.includes(JSON.stringify(url))) throw error;
  }
}

/** Without the name that the supervisor puts before it. */
const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replace(/^nats-server /, '');

/** The embedded server of a home, not started yet. It says in run/nats.json where it is. */
export async function superviseNats(options: NatsProcessOptions): Promise<Supervised> {
  const { home, binary, listen, baseMs, capMs, say, changed } = options;
  const configuration = await writeNatsFiles(home, listen);
  const launch = (): Launched => {
    const server = launchServer({ binary, configuration, listen, logFile: join(home, 'nats', 'nats.log') });
    const kill = () => void server.process.kill('SIGKILL');
    /** Why it does not serve; null once it does. */
    const failure = server.ready
      .then(() => sayWhere(home, `nats://${formatListen(listen)}`, server.pid))
      .then(
        () => null,
        (error: unknown) => {
          kill();
          return reasonOf(error);
        },
      );
    const ended = async (exit: Exit): Promise<Exit> => {
      const reason = await failure;
      return reason === null ? exit : { ...exit, reason };
    };
    return {
      pid: server.pid,
      exited: server.exited.then(ended),
      ready: failure.then((reason) => (reason === null ? undefined : new Promise<never>(() => {}))),
      stop: (graceMs) => server.stop(graceMs),
      kill,
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
