import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '@rookery/protocol';
import { Redactor } from '@rookery/secrets';

/** Files of the home that hold a secret of its own. */
const HOME_FILES = ['token', 'master.key'];

/** What no memory may hold. */
export interface ProtectedValues {
  /** Throws SECRET_REFUSED where a value holds a protected one, or eight characters of it in a row. */
  refuse(value: unknown): Promise<void>;
}

/**
 * The secrets that this service may know: those of the home, as they are now and as they were, and its own. What lies in
 * vaults it may not read; the edge, which may, has looked for those before.
 */
export function protectedValues(home: string, own: readonly string[]): ProtectedValues {
  const redactor = new Redactor(own);
  return {
    async refuse(value) {
      for (const name of HOME_FILES) {
        redactor.add((await readFile(join(home, name), 'utf8').catch(() => '')).trim());
      }
      if (redactor.contains(value)) throw new AppError('SECRET_REFUSED');
    },
  };
}
