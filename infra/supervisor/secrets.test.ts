import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServiceName } from '@rookery/service';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { masterKey, ownerToken, vaultKeysFor } from './secrets.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'rookery-secrets-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

it('makes token and master key once, for their owner only', async () => {
  const token = await ownerToken(home);
  const master = await masterKey(home, {});
  expect(Buffer.from(token, 'base64url')).toHaveLength(32);
  expect(master).toHaveLength(32);
  expect(await ownerToken(home)).toBe(token);
  expect(await masterKey(home, {})).toEqual(master);
  for (const name of ['token', 'master.key']) expect((await stat(join(home, name))).mode & 0o777).toBe(0o600);
});

it('prefers ROOKERY_MASTER_KEY and then writes no file', async () => {
  const hex = 'ab'.repeat(32);
  expect(await masterKey(home, { ROOKERY_MASTER_KEY: hex })).toEqual(Buffer.from(hex, 'hex'));
  await expect(readFile(join(home, 'master.key'))).rejects.toMatchObject({ code: 'ENOENT' });
});

it('refuses a damaged key without repeating it', async () => {
  const failure = await masterKey(home, { ROOKERY_MASTER_KEY: 'cafecafe' }).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'CONFIG_INVALID' });
  expect(String(failure)).not.toContain('cafecafe');
  await writeFile(join(home, 'token'), '');
  await expect(ownerToken(home)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
});

it('hands over keys by HKDF-SHA256 with the bucket as info and no salt', () => {
  // Worked out with `openssl kdf -keylen 32 -kdfopt digest:SHA256 -kdfopt hexkey:0101… -kdfopt info:vault_provider HKDF`.
  expect(JSON.parse(vaultKeysFor(Buffer.alloc(32, 1), ['agent']))).toEqual({
    vault_provider: '105984a1a77665c2e6cb256ab56f33792268604ed1972ab90b449587049543b0',
  });
});

it('hands each service only the buckets that it may open', () => {
  const master = Buffer.alloc(32, 1);
  const names = (services: ServiceName[]) => Object.keys(JSON.parse(vaultKeysFor(master, services))).sort();
  expect(names(['agent'])).toEqual(['vault_provider']);
  expect(names(['channels'])).toEqual(['vault_channel']);
  expect(names(['tool'])).toEqual([]);
  expect(names(['memory'])).toEqual([]);
  expect(names(['gateway'])).toEqual(['vault_channel', 'vault_provider']);
});
