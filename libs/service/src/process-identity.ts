import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isAlive, type ProcessIdentity } from '@rookery/read-model';

/** The command line of a process, its words separated by blanks; '' where there is none. */
export function commandOf(pid: number): string {
  if (process.platform !== 'linux') {
    return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout?.trim() ?? '';
  }
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

/** Ends a process: SIGTERM, then SIGKILL after `graceMs`. A process that is gone or another one is left alone. */
export async function endProcess(identity: ProcessIdentity, graceMs: number): Promise<void> {
  const signal = (name: NodeJS.Signals) => {
    if (isAlive(identity)) {
      try {
        process.kill(identity.pid, name);
      } catch {
        // It ended in between, or belongs to somebody else.
      }
    }
  };
  signal('SIGTERM');
  const deadline = Date.now() + graceMs;
  while (isAlive(identity) && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 25));
  signal('SIGKILL');
  const last = Date.now() + 2000;
  while (isAlive(identity) && Date.now() < last) await new Promise((resolve) => setTimeout(resolve, 10));
}
