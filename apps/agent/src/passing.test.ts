import { AppError, type ErrorCode } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { passes, untilAnswered } from './passing.ts';

/** Fails with these codes one after the other, then answers. */
function failing(...codes: ErrorCode[]): () => Promise<string> {
  return async () => {
    const code = codes.shift();
    if (code !== undefined) throw new AppError(code);
    return 'answer';
  };
}

describe('untilAnswered', () => {
  it('asks again while a failure passes by itself', async () => {
    const waits: string[] = [];
    const options = { signal: new AbortController().signal, onWait: (code: string) => waits.push(code) };
    expect(await untilAnswered(failing('SERVICE_UNAVAILABLE', 'STORAGE_LOW'), options)).toBe('answer');
    expect(waits).toEqual(['SERVICE_UNAVAILABLE', 'STORAGE_LOW']);
  });

  it('passes on what stays', async () => {
    const options = { signal: new AbortController().signal, onWait: () => undefined };
    await expect(untilAnswered(failing('VAULT_LOCKED'), options)).rejects.toMatchObject({ code: 'VAULT_LOCKED' });
    await expect(untilAnswered(() => Promise.reject(new TypeError('x')), options)).rejects.toThrow(TypeError);
  });

  it('ends with the last failure once nobody wants the answer', async () => {
    const abort = new AbortController();
    const options = { signal: abort.signal, onWait: () => abort.abort() };
    await expect(untilAnswered(failing('SERVICE_UNAVAILABLE', 'JOURNAL_UNAVAILABLE'), options)).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    });
  });

  it('takes nothing else than our own errors for one that passes', () => {
    expect(passes(new AppError('RUNNER_UNAVAILABLE'))).toBe(true);
    expect([new Error('x'), { code: 'SERVICE_UNAVAILABLE' }, null].map(passes)).toEqual([false, false, false]);
  });
});
