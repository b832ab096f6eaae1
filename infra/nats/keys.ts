import { chmod, mkdir, open, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createUser } from '@nats-io/nkeys';
import { publicKeyOf } from '@rookery/bus';
import { AppError } from '@rookery/protocol';

/** Path of the seed of a NATS user under a home. */
export function seedPath(home: string, user: string): string {
  return join(home, 'nats', 'keys', `${user}.nk`);
}

/** Public key of a seed; CONFIG_INVALID where the text is none, without repeating it. */
function publicKeyIn(path: string, seed: string): string {
  try {
    return publicKeyOf(seed.trim());
  } catch {
    throw new AppError('CONFIG_INVALID', { message: `${path} holds no nkey seed; remove it to get a new one.` });
  }
}

/** Reads the seed of a user; CONFIG_INVALID where it is missing or no seed. */
export async function readSeed(home: string, user: string): Promise<string> {
  const path = seedPath(home, user);
  const seed = await readFile(path, 'utf8').catch(() => '');
  publicKeyIn(path, seed);
  return seed.trim();
}

/**
 * Makes the seed files (0600) of the users that have none and gives every user's public key. A seed never
 * leaves its file: the server's configuration holds public keys only.
 */
export async function ensureKeys(home: string, users: readonly string[]): Promise<Record<string, string>> {
  await mkdir(join(home, 'nats', 'keys'), { recursive: true, mode: 0o700 });
  const keys: Record<string, string> = {};
  for (const user of users) keys[user] = await ensureKey(seedPath(home, user));
  return keys;
}

async function ensureKey(path: string): Promise<string> {
  const file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return null;
    throw error;
  });
  if (file !== null) {
    try {
      await file.writeFile(`${new TextDecoder().decode(createUser().getSeed())}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
  } else if (((await stat(path)).mode & 0o077) !== 0) {
    await chmod(path, 0o600);
  }
  return publicKeyIn(path, await readFile(path, 'utf8'));
}

/** Edges that sign a person's requests; their public keys stand in the configuration, where runners look them up. */
const EDGES = ['gateway', 'channels'];

/** Public nkeys of the edges of a home, by edge. */
export async function edgeKeysOf(home: string): Promise<Record<string, string>> {
  const keys = await Promise.all(EDGES.map(async (edge) => [edge, publicKeyOf(await readSeed(home, edge))] as const));
  return Object.fromEntries(keys);
}
