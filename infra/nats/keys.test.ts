import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ensureKeys, readSeed, seedPath } from './keys.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'rookery-keys-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

it('makes a seed only its owner can read, once', async () => {
  const first = await ensureKeys(home, ['agent', 'memory']);
  expect(first.agent).toMatch(/^U[A-Z2-7]{55}$/);
  expect(first.agent).not.toBe(first.memory);
  expect((await stat(seedPath(home, 'agent'))).mode & 0o777).toBe(0o600);
  expect(await ensureKeys(home, ['agent', 'memory'])).toEqual(first);
  expect(await readSeed(home, 'agent')).toMatch(/^SU/);
});

it('takes a seed file away from others', async () => {
  await ensureKeys(home, ['agent']);
  await chmod(seedPath(home, 'agent'), 0o644);
  await ensureKeys(home, ['agent']);
  expect((await stat(seedPath(home, 'agent'))).mode & 0o777).toBe(0o600);
});

it('says which file is damaged without repeating it', async () => {
  await ensureKeys(home, ['agent']);
  const seed = (await readFile(seedPath(home, 'agent'), 'utf8')).trim();
  await writeFile(seedPath(home, 'agent'), seed.slice(0, -3));
  const failure = await ensureKeys(home, ['agent']).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'CONFIG_INVALID' });
  expect(String(failure)).toContain('agent.nk');
  expect(String(failure)).not.toContain(seed.slice(4, 20));
  await expect(readSeed(home, 'nobody')).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
});
