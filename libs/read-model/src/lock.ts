import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { AppError } from '@rookery/protocol';
import { identify, isAlive } from './process-identity.ts';

interface Holder {
  pid: number;
  /** Tells a process from a later one with the same pid; null where the system does not say. */
  startTime: string | null;
}

export interface Lock {
  /** True where the one before did not release it: it was killed. */
  stale: boolean;
  release(): void;
}

function holds({ pid, startTime }: Holder): boolean {
  if (startTime !== null) return isAlive({ pid, startTime });
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function holderIn(text: string): Holder | null {
  try {
    const { pid, startTime } = JSON.parse(text) as Partial<Holder>;
    return typeof pid === 'number' ? { pid, startTime: startTime ?? null } : null;
  } catch {
    return null;
  }
}

function read(path: string): { text: string; holder: Holder | null } | null {
  try {
    const text = readFileSync(path, 'utf8');
    return { text, holder: holderIn(text) };
  } catch {
    return null;
  }
}

/** Links a finished file into place: whoever reads the lock sees a whole one. False where another one is there. */
function place(path: string, text: string): boolean {
  const own = `${path}.${process.pid}`;
  writeFileSync(own, text, { mode: 0o600 });
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

/** Takes away a lock whose holder is dead; gives it back where another process took it over in between. */
function takeAway(path: string, expected: string): void {
  const aside = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, aside);
    if (readFileSync(aside, 'utf8') !== expected) linkSync(aside, path);
  } catch {
    // Gone or placed anew: the next look decides.
  }
  rmSync(aside, { force: true });
}

/** Takes a lock file for this process; HOME_LOCKED with the pid of a living holder. */
export function acquireLock(path: string): Lock {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const text = JSON.stringify(identify(process.pid) ?? ({ pid: process.pid, startTime: null } satisfies Holder));
  let stale = false;
  for (let attempt = 0; attempt < 10; attempt += 1) {
    if (place(path, text)) {
      const release = () => {
        if (read(path)?.text === text) rmSync(path, { force: true });
      };
      return { stale, release };
    }
    const found = read(path);
    if (found === null) continue;
    if (found.holder !== null && holds(found.holder)) {
      throw new AppError('HOME_LOCKED', { details: { pid: found.holder.pid, path } });
    }
    stale = true;
    takeAway(path, found.text);
  }
  throw new AppError('HOME_LOCKED', { details: { path } });
}
