import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { backupName, type Schedule, startSchedule } from '@rookery/backup';

export interface CopiesOptions {
  schedule: Schedule;
  /** Folder of the bundles. */
  dist: string;
  /** With the home and the concrete address of NATS. */
  env: NodeJS.ProcessEnv;
  say(text: string): void;
}

/** Runs `rookery backup` in a process of its own: what it needs would else stay in the supervisor's memory. */
function backUpOnce({ schedule, dist, env }: CopiesOptions, signal: AbortSignal): Promise<void> {
  const folder = join(schedule.folder, backupName(new Date()));
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(dist, 'cli.mjs'), 'backup', folder], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
      signal,
    });
    let last = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      last = (last + text).slice(-1000);
    });
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(last.trim().split('\n').at(-1) ?? `it ended with ${code}`));
    });
  });
}

/** Makes copies of the home at its schedule; a copy that fails is said, and tried again a minute later. */
export function startCopies(options: CopiesOptions): { stop(): Promise<void> } {
  const { schedule, say } = options;
  const abort = new AbortController();
  const running = startSchedule(
    schedule,
    () => backUpOnce(options, abort.signal),
    (error) => {
      if (abort.signal.aborted) return;
      say(`the copy in ${schedule.folder} failed: ${error instanceof Error ? error.message : String(error)}`);
    },
  );
  return {
    async stop() {
      abort.abort();
      await running.stop();
    },
  };
}
