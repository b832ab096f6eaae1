import { expect, it } from 'vitest';
import { afterFailure, backoffTimings, isFailing, noFailures } from './backoff.ts';

it('doubles from 100 ms to 10 s', () => {
  let state = noFailures;
  const delays = Array.from({ length: 9 }, (_, index) => {
    state = afterFailure(state, index * 1000, 0);
    return state.delayMs;
  });
  expect(delays).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
});

it('starts again from 100 ms once it was up for 30 s', () => {
  const worn = { delayMs: 6400, failedAt: [] };
  expect(afterFailure(worn, 0, 29_999).delayMs).toBe(10_000);
  expect(afterFailure(worn, 0, 30_000).delayMs).toBe(100);
});

it('is failing from the fifth failure within a minute, and no longer when they are spread', () => {
  const times = (gap: number) =>
    [0, 1, 2, 3, 4].reduce((state, index) => afterFailure(state, index * gap, 0), noFailures);
  expect(isFailing(times(1000), 4000)).toBe(true);
  expect(isFailing(times(14_999), 4 * 14_999)).toBe(true);
  expect(isFailing(times(15_000), 4 * 15_000)).toBe(false);
  expect(
    isFailing(
      [0, 1, 2, 3].reduce((state, at) => afterFailure(state, at, 0), noFailures),
      4,
    ),
  ).toBe(false);
});

it('is no longer failing once a minute went by without enough failures', () => {
  const state = [0, 1, 2, 3, 4].reduce((before, at) => afterFailure(before, at, 0), noFailures);
  expect(isFailing(state, 59_999)).toBe(true);
  expect(isFailing(state, 60_000)).toBe(false);
});

it('uses the waits of the architecture', () => {
  expect(backoffTimings).toEqual({ baseMs: 100, capMs: 10_000, resetMs: 30_000, failures: 5, windowMs: 60_000 });
});
