import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { gatewayUrl, homeFolder, readToken } from './home.ts';

let home = '';
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'rookery-cli-'));
  await mkdir(join(home, 'run'));
});
afterEach(() => rm(home, { recursive: true }));

it('finds the home', () => {
  expect(homeFolder({})).toBe(join(homedir(), '.rookery'));
  expect(homeFolder({ ROOKERY_HOME: '~/x' })).toBe(join(homedir(), 'x'));
  expect(homeFolder({ ROOKERY_HOME: '/y/' })).toBe('/y');
});

it('finds the gateway by setting, run file or default', async () => {
  expect(await gatewayUrl(home, {})).toBe('http://127.0.0.1:7420');
  await writeFile(join(home, 'run/gateway.json'), '{"http":{"host":"0.0.0.0","port":4711},"pid":1}');
  expect(await gatewayUrl(home, {})).toBe('http://127.0.0.1:4711');
  expect(await gatewayUrl(home, { ROOKERY_HTTP: '127.0.0.1:0' })).toBe('http://127.0.0.1:4711');
  expect(await gatewayUrl(home, { ROOKERY_HTTP: '[::1]:99' })).toBe('http://[::1]:99');
  await writeFile(join(home, 'run/gateway.json'), '{"ht');
  expect(await gatewayUrl(home, {})).toBe('http://127.0.0.1:7420');
  await expect(gatewayUrl(home, { ROOKERY_HTTP: 'x' })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
});

it('says where the token should be', async () => {
  await expect(readToken(home)).rejects.toMatchObject({ code: 'UNAUTHORIZED', message: expect.stringContaining(home) });
  await writeFile(join(home, 'token'), 'abc\n');
  expect(await readToken(home)).toBe('abc');
});
