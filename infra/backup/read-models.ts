import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Services whose files are built from the journal; a tool-runner's receipts are not. */
const SERVICES = ['gateway', 'agent', 'memory', 'channels'];
/** Files of a read model, its generations and the pointer between them. */
const FILE = /^[a-z]+(\.\d+)?\.db(-wal|-shm|\.current)?$/;

/**
 * Removes the read models of a home that is stopped: they were built from another journal, and each service builds its own
 * anew. Harmless where there are none.
 */
export async function removeReadModels(home: string): Promise<void> {
  for (const service of SERVICES) {
    const slots = await readdir(join(home, service), { withFileTypes: true }).catch(() => []);
    for (const slot of slots.filter((each) => each.isDirectory())) {
      const folder = join(home, service, slot.name);
      const names = await readdir(folder);
      for (const name of names.filter((each) => FILE.test(each))) await rm(join(folder, name), { force: true });
    }
  }
}
