import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureKeys, type Listen, natsConfiguration, natsUsers, seedPath } from '@rookery/nats';
import { programOf } from '@rookery/service';
import { masterKey, ownerToken, vaultKeysFor } from '../supervisor/secrets.ts';
import { stopOrder } from '../supervisor/services.ts';

/** File of a service's home that holds the vault keys that it may use. */
export const vaultKeysFile = 'vault-keys.json';

export interface InitOptions {
  /** The house's own home, with every key: only this command and `provision` see it. */
  home: string;
  /** Folder with one home for each container: nats, gateway, agent, … */
  homes: string;
  /** Home of the nats container as it sees it itself. */
  natsHome: string;
  listen: Listen;
  env: NodeJS.ProcessEnv;
}

/**
 * Fills the homes of the containers: nats.conf for the server, and for each service its own NATS seed and the vault
 * keys that it may use, and nothing of the others. Harmless twice.
 */
export async function initHomes(options: InitOptions): Promise<void> {
  const { home, homes, natsHome, listen, env } = options;
  const keys = await ensureKeys(home, natsUsers);
  const master = await masterKey(home, env);
  await mkdir(join(homes, 'nats', 'nats'), { recursive: true, mode: 0o700 });
  const configuration = natsConfiguration({ listen, folder: join(natsHome, 'nats'), keys });
  await writeFile(join(homes, 'nats', 'nats', 'nats.conf'), configuration, { mode: 0o600 });
  for (const service of stopOrder) {
    const own = join(homes, programOf[service]);
    for (const folder of ['run', 'nats/keys']) await mkdir(join(own, folder), { recursive: true, mode: 0o700 });
    await copyFile(seedPath(home, service), seedPath(own, service));
    await writeFile(join(own, vaultKeysFile), vaultKeysFor(master, [service]), { mode: 0o600 });
  }
  // The gateway changes it when a person rotates it, so it lives there alone.
  await ownerToken(join(homes, 'gateway'));
}
