import { describe, expect, it } from 'vitest';
import { defaultRetry, defaultTimeouts, parseRetryAfter, retryDelay } from './policy.ts';

describe('retry policy', () => {
  it('has the values of production', () => {
    expect(defaultTimeouts).toMatchObject({ connectMs: 10_000, headersMs: 30_000, idleMs: 300_000 });
    expect(defaultRetry).toEqual({
      requestRetries: 4,
      streamRetries: 5,
      maxRequests: 6,
      baseMs: 200,
      capMs: 5000,
      retryAfterBudgetMs: 60_000,
    });
  });

  it('doubles with jitter of a tenth up to the cap', () => {
    const delays = (random: number): number[] =>
      [1, 2, 3, 4, 5, 6].map((attempt) => retryDelay(attempt, undefined, defaultRetry, () => random));
    expect(delays(0)).toEqual([180, 360, 720, 1440, 2880, 5000]);
    expect(delays(0.5)).toEqual([200, 400, 800, 1600, 3200, 5000]);
    expect(delays(1)).toEqual([220, 440, 880, 1760, 3520, 5000]);
  });

  it('is never shorter than Retry-After, which may be longer than the cap', () => {
    expect(retryDelay(1, 1500, defaultRetry, () => 0.5)).toBe(1500);
    expect(retryDelay(1, 30_000, defaultRetry, () => 0.5)).toBe(30_000);
    expect(retryDelay(9, 1500, defaultRetry, () => 0.5)).toBe(5000);
    expect(retryDelay(3, 0, defaultRetry, () => 0.5)).toBe(800);
  });

  it('reads Retry-After as seconds or as a date', () => {
    const now = Date.parse('2026-11-30T12:00:00Z');
    expect(parseRetryAfter('2', now)).toBe(2000);
    expect(parseRetryAfter(' 0.5 ', now)).toBe(500);
    expect(parseRetryAfter('Mon, 30 Nov 2026 12:00:03 GMT', now)).toBe(3000);
    expect(parseRetryAfter('Mon, 30 Nov 2026 11:00:00 GMT', now)).toBe(0);
    for (const text of [undefined, '', 'soon', '-1', 'NaN']) {
      expect(parseRetryAfter(text, now)).toBeUndefined();
    }
  });
});
