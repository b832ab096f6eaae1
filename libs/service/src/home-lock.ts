import { join } from 'node:path';
import { AppError } from '@rookery/protocol';
import { acquireLock, type Lock } from '@rookery/read-model';

/**
 * Takes the lock file of a home, waiting up to `waitMs` for a holder that lives. A dead holder's lock is taken
 * over. HOME_LOCKED names the pid that holds it.
 */
export async function lockHome(home: string, waitMs: number, say: (text: string) => void = () => {}): Promise<Lock> {
  const deadline = Date.now() + waitMs;
  for (let round = 0; ; round += 1) {
    try {
      return acquireLock(join(home, 'lock'));
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'HOME_LOCKED') throw error;
      const { pid = null } = error.details;
      const other = pid === null ? 'Rookery' : `Rookery (pid ${pid})`;
      if (Date.now() >= deadline) {
        const message = `Another ${other} uses ${home}. Stop it, or set ROOKERY_HOME to another folder.`;
        throw new AppError('HOME_LOCKED', { message, details: { pid, home } });
      }
      if (round === 0) say(`waiting for the ${other} that uses ${home}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
