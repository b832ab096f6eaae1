import { expect, it } from 'vitest';
import { isOffline, reconnectDelay } from './backoff.ts';

it('waits longer with each attempt and then every two seconds', () => {
  expect([0, 1, 2, 3, 4, 5, 6, 60].map(reconnectDelay)).toEqual([50, 100, 200, 400, 800, 2000, 2000, 2000]);
});

it('is offline when the quick attempts are used up', () => {
  expect([1, 5, 6].map(isOffline)).toEqual([false, false, true]);
});
