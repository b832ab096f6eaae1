import { join } from 'node:path';
import { programOf, type ServiceName } from '@rookery/service';
import { LogFile } from './log-file.ts';
import { vaultKeysFor } from './secrets.ts';
import { launchService } from './service-process.ts';
import { Supervised } from './supervised.ts';

/** The five services in the order in which they stop: those that take work from outside first. */
export const stopOrder: readonly ServiceName[] = ['channels', 'gateway', 'agent', 'tool', 'memory'];

/** A house is many small heaps: each grows its youngest part to 1 MB instead of 16, and keeps one helper thread. */
const nodeFlags = ['--max-semi-space-size=1', '--v8-pool-size=1'];

export interface ServicesOptions {
  /** Folder of the bundles. */
  dist: string;
  home: string;
  oneProcess: boolean;
  master: Uint8Array;
  /** Settings that every service gets, concrete addresses among them. */
  env: NodeJS.ProcessEnv;
  baseMs: number;
  capMs: number;
  say(text: string): void;
  changed(): void;
}

/** A service with what it last complained about, for the message where it does not start. */
export interface Service {
  supervised: Supervised;
  lastWarning(): string;
  logPath: string;
}

function service(name: string, vaults: readonly ServiceName[], options: ServicesOptions): Service {
  const log = new LogFile(join(options.home, 'logs', `${name}.log`), { say: options.say });
  let warning = '';
  // One malloc arena instead of one a thread: about 4 MiB less a process at rest.
  const memory = { MALLOC_ARENA_MAX: '1' };
  const env = { ...memory, ...options.env, ROOKERY_VAULT_KEYS: vaultKeysFor(options.master, vaults) };
  const supervised = new Supervised({
    name,
    baseMs: options.baseMs,
    capMs: options.capMs,
    firstAttempts: 3,
    readyMs: 60_000,
    say: options.say,
    changed: options.changed,
    launch: () =>
      launchService({
        name,
        entry: join(options.dist, `${name}.mjs`),
        flags: nodeFlags,
        env,
        log,
        warn: (text) => {
          warning = text;
          options.say(`${name}: ${text}`);
        },
      }),
  });
  return { supervised, lastWarning: () => warning, logPath: log.path };
}

/** The services of a home, not started yet, in stop order. */
export function servicesOf(options: ServicesOptions): Service[] {
  if (options.oneProcess) return [service('one-process', stopOrder, options)];
  return stopOrder.map((name) => service(programOf[name], [name], options));
}

/** Starts them side by side; rejects with the last words of the first one that does not become ready. */
export async function startServices(services: readonly Service[]): Promise<void> {
  await Promise.all(
    services.map(async ({ supervised, lastWarning, logPath }) => {
      try {
        await supervised.start();
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new Error(`${reason}. Its last words: ${lastWarning() || 'none'}\nThe whole log is ${logPath}.`);
      }
    }),
  );
}
