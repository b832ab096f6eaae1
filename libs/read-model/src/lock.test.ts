import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@rookery/testkit';
import { afterAll, describe, expect, it } from 'vitest';
import { acquireLock } from './lock.ts';

const folder = await temporaryFolder('lock');
afterAll(() => folder.remove());
const path = (name: string) => join(folder.path, name);
const locked = expect.objectContaining({ code: 'HOME_LOCKED' });

describe('a lock', () => {
  it('is held by one at a time and leaves nothing behind', () => {
    const lock = acquireLock(path('a'));
    expect(lock.stale).toBe(false);
    expect(() => acquireLock(path('a'))).toThrow(locked);
    lock.release();
    acquireLock(path('a')).release();
    expect(readdirSync(folder.path).filter((name) => name.startsWith('a'))).toEqual([]);
  });

  it('of a living process names its pid', async () => {
    const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)']);
    writeFileSync(path('b'), JSON.stringify({ pid: child.pid, startTime: null }));
    expect(() => acquireLock(path('b'))).toThrow(
      expect.objectContaining({ details: { pid: child.pid, path: path('b') } }),
    );
    child.kill('SIGKILL');
    await once(child, 'exit');
    const lock = acquireLock(path('b'));
    expect(lock.stale).toBe(true);
    lock.release();
  });

  it('of an earlier process with the same pid is taken over', () => {
    writeFileSync(path('c'), JSON.stringify({ pid: process.pid, startTime: 'another boot/1' }));
    const lock = acquireLock(path('c'));
    expect(lock.stale).toBe(true);
    expect(JSON.parse(readFileSync(path('c'), 'utf8'))).toMatchObject({ pid: process.pid });
    lock.release();
  });

  it('that was never written whole is taken over', () => {
    writeFileSync(path('d'), '{"pi');
    acquireLock(path('d')).release();
    expect(existsSync(path('d'))).toBe(false);
  });

  it('is not released by one who lost it', () => {
    const first = acquireLock(path('e'));
    writeFileSync(path('e'), 'of another');
    first.release();
    expect(readFileSync(path('e'), 'utf8')).toBe('of another');
  });
});
