import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { cachedBinary } from './cache.ts';
import { locateServer } from './locate.ts';

let folder: string;
const env = () => ({ PATH: join(folder, 'bin'), XDG_CACHE_HOME: join(folder, 'cache') });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rookery-locate-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function program(path: string, output: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `#!/bin/sh\necho '${output}'\n`);
  await chmod(path, 0o755);
  return path;
}

it('takes the one that is named before PATH and the cache', async () => {
  const named = await program(join(folder, 'mine'), 'nats-server: v2.15.3');
  await program(join(folder, 'bin/nats-server'), 'nats-server: v2.16.0');
  const { found } = await locateServer({ ...env(), ROOKERY_NATS_SERVER: named });
  expect(found).toMatchObject({ path: named, origin: 'ROOKERY_NATS_SERVER', version: { minor: 15, patch: 3 } });
});

it('takes PATH before the cache', async () => {
  const path = await program(join(folder, 'bin/nats-server'), 'nats-server: v2.16.0');
  await program(cachedBinary(env()), 'nats-server: v2.15.0');
  expect((await locateServer(env())).found).toMatchObject({ path, origin: 'PATH' });
});

it('passes over an older one on PATH, with the reason', async () => {
  const old = await program(join(folder, 'bin/nats-server'), 'nats-server: v2.10.27');
  const cached = await program(cachedBinary(env()), 'nats-server: v2.15.0');
  const { found, rejected } = await locateServer(env());
  expect(found).toMatchObject({ path: cached, origin: 'cache' });
  expect(rejected).toEqual([expect.objectContaining({ path: old, reason: expect.stringContaining('2.10.27') })]);
});

it('refuses an older one that was named', async () => {
  const named = await program(join(folder, 'mine'), 'nats-server: v2.14.9');
  await program(join(folder, 'bin/nats-server'), 'nats-server: v2.16.0');
  await expect(locateServer({ ...env(), ROOKERY_NATS_SERVER: named })).rejects.toMatchObject({ code: 'NATS_TOO_OLD' });
});

it('refuses a named one that is missing or something else', async () => {
  const missing = { ...env(), ROOKERY_NATS_SERVER: join(folder, 'nothing') };
  await expect(locateServer(missing)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  const other = { ...env(), ROOKERY_NATS_SERVER: await program(join(folder, 'mine'), 'hello') };
  await expect(locateServer(other)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  const node = { ...env(), ROOKERY_NATS_SERVER: await program(join(folder, 'node'), 'v20.20.2') };
  await expect(locateServer(node)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
});

it('finds nothing on an empty machine', async () => {
  expect(await locateServer(env())).toEqual({ found: null, rejected: [] });
});
