import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LogFile } from './log-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rookery-log-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it('appends to what is there and is its owner’s only', () => {
  const path = join(folder, 'logs', 'a.log');
  for (const text of ['one\n', 'two\n']) {
    const log = new LogFile(path);
    log.write(text);
    log.close();
  }
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it('is put aside by size, and three of those are kept', () => {
  const log = new LogFile(join(folder, 'a.log'), { limit: 10 });
  for (let line = 0; line < 6; line += 1) log.write(`line ${line}\n`);
  log.close();
  expect(readdirSync(folder).sort()).toEqual(['a.log', 'a.log.1', 'a.log.2', 'a.log.3']);
  expect(readFileSync(join(folder, 'a.log'), 'utf8')).toBe('line 5\n');
  expect(readFileSync(join(folder, 'a.log.3'), 'utf8')).toBe('line 2\n');
});

it('leaves out what a full disk does not take, and says so once', () => {
  const said: string[] = [];
  // Writing to it fails as on a full disk.
  const log = new LogFile('/dev/full', { say: (text) => said.push(text) });
  for (let line = 0; line < 3; line += 1) log.write(`line ${line}\n`);
  log.close();
  expect(said).toEqual([expect.stringMatching(/\/dev\/full cannot be written.*ENOSPC/)]);
});

it('goes on in the same file where a new one cannot be made, and says how many lines are missing', () => {
  const said: string[] = [];
  const path = join(folder, 'a.log');
  const log = new LogFile(path, { limit: 10, say: (text) => said.push(text) });
  log.write('line 0\n');
  mkdirSync(`${path}.new`);
  for (const line of [1, 2]) log.write(`line ${line}\n`);
  rmSync(`${path}.new`, { recursive: true });
  log.write('line 3\n');
  log.close();
  expect(readFileSync(path, 'utf8')).toBe('line 3\n');
  expect(readFileSync(`${path}.1`, 'utf8')).toBe('line 0\n');
  expect(said).toEqual([expect.stringContaining('cannot be written'), expect.stringContaining('2 lines are missing')]);
});
