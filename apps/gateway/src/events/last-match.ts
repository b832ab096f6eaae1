import { type EventFilter, streamSeqOf, toWireEvents } from '@rookery/protocol';
import { type CommitSource, commitsBetween, visibleThread } from './commit-source.ts';
import { matches, subjectOf } from './filter.ts';

const FIRST_WINDOW = 64;
const GROWTH = 4;
const LARGEST_WINDOW = 65_536;
const PAGE = 1000;

/**
 * Seq of the last event before `beforeSeq` that matches a filter, 0 for none. The journal is read only forwards, so it
 * is searched in windows that grow backwards.
 */
export async function lastMatchBefore(
  source: CommitSource,
  filter: EventFilter | null,
  beforeSeq: number,
): Promise<number> {
  const subject = subjectOf(filter, source.world);
  let last = streamSeqOf(beforeSeq);
  for (let size = FIRST_WINDOW; last >= 1; size = Math.min(size * GROWTH, LARGEST_WINDOW)) {
    const first = Math.max(1, last - size + 1);
    let found = 0;
    for await (const stored of commitsBetween(source, subject, { first, last, page: Math.min(size, PAGE) })) {
      if (visibleThread(source, stored) === null) continue;
      for (const event of toWireEvents(stored)) {
        if (event.seq < beforeSeq && matches(event, filter)) found = event.seq;
      }
    }
    if (found > 0) return found;
    last = first - 1;
  }
  return 0;
}
