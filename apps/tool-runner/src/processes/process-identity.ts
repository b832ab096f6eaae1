import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** How far two readings of when a process began may lie apart, in milliseconds. */
const START_TOLERANCE_MS = 5000;
/** The unit of process start times in /proc: USER_HZ is 100 on every Linux that Node runs on. */
const TICK_MS = 10;

/** What tells a process from a later one with the same pid. */
export interface ProcessIdentity {
  /** When it began, in milliseconds of a clock of this boot. */
  readonly startMark: number;
  readonly group: number;
  readonly dead: boolean;
}

/** Reads when a process began and to which group it belongs; null where there is no such process. */
export function identityOf(pid: number): ProcessIdentity | null {
  return process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
}

/** An id of this boot of the machine; pids and start times of another boot mean nothing. */
export function currentBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}

/** Tells whether a recorded process still runs: the same boot, leader of its own group, begun at the same time. */
export function isSameProcess(pid: number, startMark: number | null, bootId: string): boolean {
  if (startMark === null || bootId !== currentBootId()) return false;
  const found = identityOf(pid);
  if (found === null || found.dead || found.group !== pid) return false;
  return Math.abs(found.startMark - startMark) <= START_TOLERANCE_MS;
}

/** Tells whether any process of a group still runs; a dead one that nobody has reaped does not count. */
export function groupRuns(group: number): boolean {
  try {
    process.kill(-group, 0);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
  }
  if (process.platform !== 'linux') return true;
  return readdirSync('/proc').some((name) => {
    const found = /^\d+$/.test(name) ? fromProc(Number(name)) : null;
    return found !== null && found.group === group && !found.dead;
  });
}

function fromProc(pid: number): ProcessIdentity | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
  // The second field is the program's name in brackets and may itself hold brackets and blanks.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state = ''] = fields;
  return { startMark: Number(fields[19]) * TICK_MS, group: Number(fields[2]), dead: state === 'Z' || state === 'X' };
}

function fromPs(pid: number): ProcessIdentity | null {
  try {
    const line = execFileSync('ps', ['-o', 'pgid=,stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    const [, group = '', state = '', started = ''] = /^(\d+)\s+(\S+)\s+(.+)$/.exec(line) ?? [];
    return { startMark: Date.parse(started), group: Number(group), dead: state.startsWith('Z') };
  } catch {
    return null;
  }
}
