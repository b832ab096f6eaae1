import { link, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '@rookery/protocol';
import { identify, isAlive, type ProcessIdentity } from './process-identity.ts';

export interface HomeLock {
  release(): Promise<void>;
}

async function readHolder(path: string): Promise<{ text: string; holder: ProcessIdentity | null } | null> {
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text === null) return null;
  try {
    const { pid, startTime } = JSON.parse(text) as Partial<ProcessIdentity>;
    return { text, holder: typeof pid === 'number' && typeof startTime === 'string' ? { pid, startTime } : null };
  } catch {
    return { text, holder: null };
  }
}

/** Removes the lock of a dead process; another one that came in between is put back. */
async function removeStale(path: string, seen: string): Promise<void> {
  const aside = `${path}.${process.pid}.stale`;
  await rename(path, aside).catch(() => undefined);
  const taken = await readFile(aside, 'utf8').catch(() => null);
  if (taken !== null && taken !== seen) await link(aside, path).catch(() => undefined);
  await unlink(aside).catch(() => undefined);
}

/**
 * Takes the lock file of a home, waiting up to `waitMs` for a holder that lives. A dead holder's lock is taken
 * over. HOME_LOCKED names the pid that holds it.
 */
export async function lockHome(
  home: string,
  waitMs: number,
  say: (text: string) => void = () => {},
): Promise<HomeLock> {
  const path = join(home, 'lock');
  const self = identify(process.pid);
  if (self === null) throw new Error('this process cannot read its own start time');
  const mine = `${JSON.stringify(self)}\n`;
  const draft = `${path}.${process.pid}.new`;
  await writeFile(draft, mine, { mode: 0o600 });
  try {
    const deadline = Date.now() + waitMs;
    for (let round = 0; ; round += 1) {
      // A hard link appears whole or not at all, and never replaces a lock.
      const refusal = await link(draft, path).then(
        () => null,
        (error: NodeJS.ErrnoException) => error,
      );
      if (refusal === null) break;
      if (refusal.code !== 'EEXIST') throw refusal;
      const current = await readHolder(path);
      if (current === null) continue;
      if (current.holder === null || !isAlive(current.holder)) {
        await removeStale(path, current.text);
        continue;
      }
      const { pid } = current.holder;
      if (Date.now() >= deadline) {
        const message = `Another Rookery (pid ${pid}) uses ${home}. Stop it, or set ROOKERY_HOME to another folder.`;
        throw new AppError('HOME_LOCKED', { message, details: { pid, home } });
      }
      if (round === 0) say(`waiting for the Rookery with pid ${pid} that uses ${home}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  } finally {
    await unlink(draft).catch(() => undefined);
  }
  return {
    release: async () => {
      if ((await readHolder(path))?.text === mine) await unlink(path).catch(() => undefined);
    },
  };
}
