import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TemporaryFolder {
  path: string;
  remove(): Promise<void>;
}

/** A new folder under the system's temporary folder, removed with all that is in it by `remove`. */
export async function temporaryFolder(name = 'test'): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), `rookery-${name}-`));
  // A process that was killed a moment ago may still hold or write files there.
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }) };
}
