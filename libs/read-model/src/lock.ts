import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { AppError } from '@rookery/protocol';

interface Holder {
  pid: number;
  /** Tells a process from a later one with the same pid; null where the system does not say. */
  start: string | null;
}

export interface Lock {
  /** True where the one before did not release it: it was killed. */
  stale: boolean;
  release(): void;
}

/** Boot and start time of a process, null where there is none or the system does not say. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command stands in brackets and may hold anything; field 22 is counted behind the last bracket.
    const ticks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return ticks === undefined ? null : `${boot}/${ticks}`;
  } catch {
    return null;
  }
}

function isAlive(holder: Holder): boolean {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return holder.start === null || holder.start === startOf(holder.pid);
}

function holderIn(text: string): Holder | null {
  try {
    const { pid, start } = JSON.parse(text) as Partial<Holder>;
    return typeof pid === 'number' ? { pid, start: start ?? null } : null;
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
  const text = JSON.stringify({ pid: process.pid, start: startOf(process.pid) } satisfies Holder);
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
    if (found.holder !== null && isAlive(found.holder)) {
      throw new AppError('HOME_LOCKED', { details: { pid: found.holder.pid, path } });
    }
    stale = true;
    takeAway(path, found.text);
  }
  throw new AppError('HOME_LOCKED', { details: { path } });
}
