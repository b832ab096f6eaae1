import { describe, expect, it } from 'vitest';
import { inOrder } from './in-order.ts';

describe('inOrder', () => {
  it('runs the work of a key in order, past failures, and that of other keys meanwhile', async () => {
    const run = inOrder();
    const seen: string[] = [];
    let open = (): void => undefined;
    const gate = new Promise<void>((done) => {
      open = done;
    });
    const first = run('a', async () => {
      await gate;
      seen.push('a1');
      throw new Error('expected');
    });
    const second = run('a', async () => seen.push('a2'));
    await run('b', async () => seen.push('b1'));
    expect(seen).toEqual(['b1']);
    open();
    await expect(first).rejects.toThrow('expected');
    await second;
    expect(seen).toEqual(['b1', 'a1', 'a2']);
  });
});
