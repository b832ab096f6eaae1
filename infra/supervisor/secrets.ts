import { randomBytes } from 'node:crypto';
import { chmod, open, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '@rookery/protocol';
import { deriveKey, parseMasterKey } from '@rookery/secrets';
import { type ServiceName, vaultBucketsOf } from '@rookery/service';

async function readOrMake(path: string, make: () => string): Promise<string> {
  const file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return null;
    throw error;
  });
  if (file !== null) {
    try {
      await file.writeFile(`${make()}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
  } else if (((await stat(path)).mode & 0o077) !== 0) {
    await chmod(path, 0o600);
  }
  return (await readFile(path, 'utf8')).trim();
}

/** The owner token of a home, made at first use. */
export async function ownerToken(home: string): Promise<string> {
  const token = await readOrMake(join(home, 'token'), () => randomBytes(32).toString('base64url'));
  if (token.length < 32) {
    throw new AppError('CONFIG_INVALID', { message: `${join(home, 'token')} is damaged; remove it to get a new one.` });
  }
  return token;
}

/**
 * The 32 bytes that every vault key is derived from: ROOKERY_MASTER_KEY, or master.key made at first use.
 * CONFIG_INVALID where it is not 64 hexadecimal digits.
 */
export async function masterKey(home: string, env: NodeJS.ProcessEnv = process.env): Promise<Uint8Array> {
  const given = env.ROOKERY_MASTER_KEY;
  const path = join(home, 'master.key');
  const text = given || (await readOrMake(path, () => randomBytes(32).toString('hex')));
  const key = parseMasterKey(text);
  if (key !== null) return key;
  const where = given ? 'ROOKERY_MASTER_KEY' : path;
  throw new AppError('CONFIG_INVALID', { message: `${where} is not a key of 64 hexadecimal digits.` });
}

/** Value of ROOKERY_VAULT_KEYS for the given services. */
export function vaultKeysFor(master: Uint8Array, services: readonly ServiceName[]): string {
  const buckets = new Set(services.flatMap((service) => vaultBucketsOf[service]));
  return JSON.stringify(
    Object.fromEntries([...buckets].map((bucket) => [bucket, Buffer.from(deriveKey(master, bucket)).toString('hex')])),
  );
}
