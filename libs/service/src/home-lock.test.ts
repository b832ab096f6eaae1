import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identify } from '@rookery/read-model';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { lockHome } from './home-lock.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'rookery-lock-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

it('is held with pid and start time, refused to a second one, and free after its release', async () => {
  const lock = await lockHome(home, 0);
  expect(JSON.parse(await readFile(join(home, 'lock'), 'utf8'))).toEqual(identify(process.pid));
  await expect(lockHome(home, 50)).rejects.toMatchObject({ code: 'HOME_LOCKED', details: { pid: process.pid } });
  lock.release();
  (await lockHome(home, 0)).release();
  expect(await readdir(home)).toEqual([]);
});

it('waits for a holder that lets go', async () => {
  const lock = await lockHome(home, 0);
  const said: string[] = [];
  const second = lockHome(home, 10_000, (text) => said.push(text));
  setTimeout(() => lock.release(), 50);
  (await second).release();
  expect(said).toHaveLength(1);
});

it('takes over from a dead process, also where its pid lives on as another', async () => {
  const child = spawn(process.execPath, ['-e', '0']);
  const dead = { pid: child.pid, startTime: 'then' };
  await new Promise((resolve) => child.once('exit', resolve));
  await writeFile(join(home, 'lock'), JSON.stringify(dead));
  (await lockHome(home, 0)).release();
  await writeFile(join(home, 'lock'), JSON.stringify({ pid: process.pid, startTime: 'of another life' }));
  (await lockHome(home, 0)).release();
  await writeFile(join(home, 'lock'), 'damaged');
  (await lockHome(home, 0)).release();
});

it('gives a stale lock to exactly one of many', async () => {
  await writeFile(join(home, 'lock'), JSON.stringify({ pid: 1, startTime: 'gone' }));
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => lockHome(home, 0)));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

it('leaves a lock that is no longer its own', async () => {
  const lock = await lockHome(home, 0);
  await writeFile(join(home, 'lock'), 'of somebody else');
  lock.release();
  expect(await readFile(join(home, 'lock'), 'utf8')).toBe('of somebody else');
});
