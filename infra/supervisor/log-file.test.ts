import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
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
  const log = new LogFile(join(folder, 'a.log'), 10);
  for (let line = 0; line < 6; line += 1) log.write(`line ${line}\n`);
  log.close();
  expect(readdirSync(folder).sort()).toEqual(['a.log', 'a.log.1', 'a.log.2', 'a.log.3']);
  expect(readFileSync(join(folder, 'a.log'), 'utf8')).toBe('line 5\n');
  expect(readFileSync(join(folder, 'a.log.3'), 'utf8')).toBe('line 2\n');
});
