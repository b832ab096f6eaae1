import type { WireEvent } from '../wire/types.ts';

export type Placement = 'apply' | 'overlap' | 'gap';

/** Where an event stands against the last seq seen: an overlap is dropped, a gap must be replayed before it is crossed. */
export function placeEvent(lastSeq: number, event: Pick<WireEvent, 'seq' | 'prevSeq'>): Placement {
  if (event.seq <= lastSeq) return 'overlap';
  if (typeof event.prevSeq === 'number' && event.prevSeq > lastSeq) return 'gap';
  return 'apply';
}
