import { expect, it } from 'vitest';
import { placeEvent } from './event-order.ts';

it('places an event by its own seq and the one before it', () => {
  expect(placeEvent(2048, { seq: 3072, prevSeq: 2048 })).toBe('apply');
  expect(placeEvent(2050, { seq: 3072, prevSeq: 2048 })).toBe('apply');
  expect(placeEvent(2048, { seq: 2048, prevSeq: 1024 })).toBe('overlap');
  expect(placeEvent(2048, { seq: 4096, prevSeq: 3072 })).toBe('gap');
  expect(placeEvent(2048, { seq: 4096 })).toBe('apply');
});
