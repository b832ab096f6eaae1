import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { finishRestore } from '@rookery/backup';
import { formatListen, formatVersion, obtainServer, settlePort } from '@rookery/nats';
import { lockHome, watchStorage } from '@rookery/service';
import { serveControl } from './control.ts';
import { startCopies } from './copies.ts';
import { hostDemo } from './demo.ts';
import { emptyHouse, type House, houseStatus, killHouse, recordHouse, stopHouse } from './house.ts';
import { endLeftovers } from './leftovers.ts';
import { superviseNats, writeNatsFiles } from './nats-process.ts';
import { openLink } from './open-link.ts';
import { provisionHome } from './provision-home.ts';
import { masterKey, ownerToken } from './secrets.ts';
import { servicesOf, startServices } from './services.ts';
import { readSettings, type SupervisorSettings } from './settings.ts';
import { type StopSignals, stopSignals } from './stop-signals.ts';
import { watchSources } from './watch-sources.ts';
import { watchWrites } from './watch-writes.ts';

export interface SuperviseOptions {
  /** Folder of the checkout, which is watched. */
  root: string;
  /** Folder of the bundles. */
  dist: string;
  oneProcess: boolean;
  watch: boolean;
  env: NodeJS.ProcessEnv;
  /** Runs a step and prints one line with its name and time. */
  step(name: string, work: (note: (text: string) => void) => Promise<string>): Promise<void>;
  /** Builds what changed, in a process of its own; gives the names of the bundles that are other than before. */
  rebuild(web: boolean): Promise<string[]>;
}

const say = (text: string): void => {
  process.stderr.write(`  ${new Date().toTimeString().slice(0, 8)}     ${text}\n`);
};

/** The reason why a start did not go on: it was told to stop. */
class Stopped extends Error {
  readonly stopped = true;
}

/**
 * Runs a home until it is told to stop: nats-server, provision, services, and the end of all in order.
 * Rejects where a step fails (codes of each step); nothing is left running then.
 */
export async function supervise(options: SuperviseOptions): Promise<void> {
  const settings = readSettings(options.env);
  const { home, timings } = settings;
  // A terminal that went away, or a full disk under a redirected output, must not end the house.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  for (const name of ['', 'run', 'logs', 'nats']) await mkdir(join(home, name), { recursive: true, mode: 0o700 });
  const house = emptyHouse(home);
  const signals = stopSignals(() => {
    killHouse(house);
    say('stopped without waiting');
    process.exit(130);
  });
  const lock = await Promise.race([lockHome(home, timings.lockWaitMs, say), signals.stopped]);
  if (typeof lock === 'string') return say(`stopped (${lock})`);
  try {
    const aside = await finishRestore(home);
    if (aside !== null) say(`a restore that was cut off is finished; the store before it is ${aside}`);
    const left = await endLeftovers(home, timings.drainMs + 5000);
    if (left.length > 0) say(`ended what an earlier start had left running: ${left.join(', ')}`);
    const link = await startHouse(house, settings, options, signals);
    process.stdout.write(`\nRookery ready in ${(performance.now() / 1000).toFixed(1)} s\n\n  ${link}\n\n`);
    process.stdout.write(
      '  The link works once, for five minutes; `npx rookery open` prints a new one. Ctrl-C stops.\n\n',
    );
    const watching = options.watch ? watchSources(options.root, options.rebuild, house.services, say) : null;
    say(`stopping (${await signals.stopped})`);
    watching?.close();
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    say('stopping');
  } finally {
    await stopHouse(house, timings.drainMs + 5000, say);
    lock.release();
    signals.dispose();
  }
  say('stopped');
}

/** Starts everything and gives the link to open. */
async function startHouse(
  house: House,
  settings: SupervisorSettings,
  options: SuperviseOptions,
  signals: StopSignals,
): Promise<string> {
  const { home } = settings;
  /** Cuts a step short when it is told to stop. */
  const unlessStopped = <T>(work: Promise<T>): Promise<T> => {
    const stopped = signals.stopped.then(() => {
      throw new Stopped();
    });
    return Promise.race([work, stopped]);
  };
  const changed = () => recordHouse(house, say);
  const token = await ownerToken(home);
  const master = await masterKey(home, options.env);
  const http = await settlePort(settings.http, 'ROOKERY_HTTP');
  const shared = { say, changed, baseMs: settings.timings.restartBaseMs, capMs: settings.timings.restartCapMs };

  house.storage = await watchStorage({
    home,
    lowBytes: settings.storageLowBytes,
    lookMs: settings.timings.storageLookMs,
    onChange: (refusal) => say(refusal === null ? 'there is disk space again' : `${refusal.code}: ${refusal.message}`),
  });
  const storage = house.storage;

  let natsUrl = settings.natsUrl;
  if (natsUrl === null) {
    let binary = '';
    await options.step('nats-server', async (note) => {
      const found = await unlessStopped(obtainServer(options.env, note));
      binary = found.path;
      return `${formatVersion(found.version)} (${found.origin})`;
    });
    const listen = await settlePort(settings.nats, 'ROOKERY_NATS');
    const ownUrl = `nats://${formatListen(listen)}`;
    natsUrl = ownUrl;
    await options.step('nats', async () => {
      const nats = await superviseNats({ home, binary, listen, ...shared });
      house.nats = nats;
      await unlessStopped(nats.start());
      const restart = () => nats.restart(settings.timings.drainMs);
      const { storageLookMs: lookMs } = settings.timings;
      house.writes = watchWrites({ home, natsUrl: ownUrl, storage, lookMs, restart, say });
      return `listens on ${formatListen(listen)}`;
    });
  } else {
    await writeNatsFiles(home, settings.nats);
  }
  const url = natsUrl;
  const { ROOKERY_MASTER_KEY: _stays, ...inherited } = options.env;
  const env = { ...inherited, ROOKERY_HOME: home, ROOKERY_NATS_URL: url, ROOKERY_HTTP: formatListen(http) };
  const { dist, oneProcess } = options;
  await options.step('provision', () => unlessStopped(provisionHome(dist, env, signals.signal)));

  const control = { home, natsUrl: url, requestStop: signals.request, status: () => houseStatus(house) };
  house.services = servicesOf({ dist, home, oneProcess, master, env, ...shared });
  await options.step('services', async () => {
    house.demo = await hostDemo(home);
    house.control = await unlessStopped(serveControl(control));
    await unlessStopped(startServices(house.services));
    return oneProcess ? 'five in one process' : `${house.services.length} processes`;
  });
  if (settings.copies !== null) house.copies = startCopies({ schedule: settings.copies, dist, env, say });
  return unlessStopped(openLink(http, token));
}
