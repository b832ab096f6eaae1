import { describe, expect, it } from 'vitest';
import { PathLocks } from './path-locks.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('PathLocks', () => {
  it('runs holders of one path one after the other, in order', async () => {
    const locks = new PathLocks();
    const seen: string[] = [];
    const hold = (name: string) =>
      locks.run('/a', async () => {
        seen.push(`${name}+`);
        await turn();
        seen.push(`${name}-`);
      });
    await Promise.all([hold('1'), hold('2'), hold('3')]);
    expect(seen).toEqual(['1+', '1-', '2+', '2-', '3+', '3-']);
    expect(locks.size).toBe(0);
  });

  it('runs holders of two paths together', async () => {
    const locks = new PathLocks();
    let open: () => void = () => {};
    const first = locks.run('/a', () => new Promise<void>((resolve) => (open = resolve)));
    await locks.run('/b', async () => open());
    await first;
  });

  it('goes on after work that throws, and passes the error on', async () => {
    const locks = new PathLocks();
    const failing = locks.run('/a', () => Promise.reject(new Error('no')));
    const next = locks.run('/a', async () => 'yes');
    await expect(failing).rejects.toThrow('no');
    expect(await next).toBe('yes');
  });
});
