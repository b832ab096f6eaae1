import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MANIFEST } from './manifest.ts';

export interface Schedule {
  /** Folder that holds the copies. */
  folder: string;
  /** Hours from one copy to the next. */
  everyHours: number;
  /** Copies that are kept; older ones are removed once a new one is whole. */
  keep: number;
}

const NAME = /^rookery-\d{8}T\d{6}Z$/;
const CUT_OFF = /^\.rookery-\d{8}T\d{6}Z\.\d+\.part$/;
const HOUR_MS = 3_600_000;
const LOOK_MS = 60_000;

/** The copies of a folder that are whole, oldest first, with the time at which they were made. */
async function copiesIn(folder: string): Promise<{ path: string; at: number }[]> {
  const names = await readdir(folder).catch(() => []);
  const copies: { path: string; at: number }[] = [];
  for (const name of names.filter((each) => NAME.test(each)).sort()) {
    const path = join(folder, name);
    const text = await readFile(join(path, MANIFEST), 'utf8').catch(() => null);
    if (text === null) continue;
    const at = Date.parse(String((JSON.parse(text) as { createdAt?: unknown }).createdAt));
    if (Number.isFinite(at)) copies.push({ path, at });
  }
  return copies;
}

/** Removes what a copy that was cut off a day ago or more has left. */
async function removeCutOff(folder: string): Promise<void> {
  for (const name of (await readdir(folder).catch(() => [])).filter((each) => CUT_OFF.test(each))) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => null);
    if (found !== null && Date.now() - found.mtimeMs > 24 * HOUR_MS) await rm(path, { recursive: true, force: true });
  }
}

/** Removes all but the newest copies and gives the folders that are gone. What has another name is left alone. */
export async function keepNewest(folder: string, keep: number): Promise<string[]> {
  const old = (await copiesIn(folder)).slice(0, -keep);
  for (const { path } of old) await rm(path, { recursive: true, force: true });
  return old.map(({ path }) => path);
}

/** Makes copies for as long as it runs: one at once where the newest is too old, then one each time it has become so. */
export function startSchedule(
  { folder, everyHours, keep }: Schedule,
  make: () => Promise<void>,
  onError: (error: unknown) => void,
): { stop(): Promise<void> } {
  let working: Promise<void> = Promise.resolve();
  let stopped = false;
  const look = async (): Promise<void> => {
    const newest = (await copiesIn(folder)).at(-1);
    // A clock that was set back would otherwise put the next copy off for ever.
    if (newest !== undefined && Math.abs(Date.now() - newest.at) < everyHours * HOUR_MS) return;
    await removeCutOff(folder);
    await make();
    await keepNewest(folder, keep);
  };
  const timer = setInterval(() => {
    working = working.then(() => (stopped ? undefined : look().catch(onError)));
  }, LOOK_MS);
  working = look().catch(onError);
  return {
    async stop() {
      stopped = true;
      clearInterval(timer);
      await working;
    },
  };
}
