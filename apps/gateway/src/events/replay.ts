import { type EventFilter, limits, seqOf, streamSeqOf } from '@rookery/protocol';
import { RawJson } from '../rpc/response.ts';
import { type CommitSource, commitsBetween, loadEvents } from './commit-source.ts';
import { matches, normalFilter, subjectOf } from './filter.ts';
import type { Gate } from './gate.ts';
import type { EventHub } from './hub.ts';
import { eventJson, eventJsonAfter, type HubEvent } from './hub-event.ts';
import { lastMatchBefore } from './last-match.ts';

export interface ReplayRequest {
  afterSeq: number;
  limit: number;
  filter: EventFilter | null;
  /** True for clients that get prevSeq. */
  linked: boolean;
}

interface Page {
  /** Matching events after afterSeq, at most `limit`. */
  events: HubEvent[];
  /** Seq of the matching event before the first one. */
  previous: number;
  hasMore: boolean;
  /** Everything up to here was looked at. */
  throughSeq: number;
}

const MIN_PAGE = 64;
const MAX_PAGE = 1000;
/** Commits that one request reads at most; a filter that finds little goes on with the next request. */
const MAX_COMMITS = 20_000;
/** Characters of one answer at most. */
const MAX_CHARS = 4 * 1024 * 1024;

/**
 * Answers event.replay from memory, and beyond that from the journal page by page, from any seq
 * (docs/decisions/0007).
 */
export function createReplay(ports: { hub: EventHub; source: CommitSource; gate: Gate }) {
  return async (request: ReplayRequest): Promise<RawJson> => {
    const filter = normalFilter(request.filter);
    const wanted = { ...request, filter };
    const latestSeq = ports.hub.latestSeq;
    const page =
      request.afterSeq >= ports.hub.ring.base
        ? await fromRing(ports, wanted)
        : await ports.gate.run(() => fromJournal(ports, wanted, latestSeq));
    return new RawJson(pageJson(page, wanted, Math.max(latestSeq, page.events.at(-1)?.seq ?? 0)));
  };
}

type Ports = Parameters<typeof createReplay>[0];
type Wanted = ReplayRequest;

async function fromRing({ hub, source, gate }: Ports, { afterSeq, limit, filter, linked }: Wanted): Promise<Page> {
  const events: HubEvent[] = [];
  let chars = 0;
  let hasMore = false;
  let throughSeq = afterSeq;
  for (const event of hub.ring.after(afterSeq)) {
    if (matches(event, filter)) {
      hasMore = events.length === limit || (chars > MAX_CHARS && events.length > 0);
      if (hasMore) break;
      events.push(event);
      chars += event.body.length;
    }
    throughSeq = event.seq;
  }
  let previous = 0;
  if (linked && events.length > 0) {
    previous =
      previousInRing(hub, filter, afterSeq) ?? (await gate.run(() => lastMatchBefore(source, filter, afterSeq + 1)));
  }
  return { events, previous, hasMore, throughSeq };
}

/** Null where the ring does not reach back far enough to know. */
function previousInRing(hub: EventHub, filter: EventFilter | null, seq: number): number | null {
  for (const event of hub.ring.backFrom(seq)) if (matches(event, filter)) return event.seq;
  return filter === null || hub.ring.base === 0 ? hub.ring.base : null;
}

async function fromJournal({ hub, source }: Ports, wanted: Wanted, latestSeq: number): Promise<Page> {
  const { afterSeq, limit, filter, linked } = wanted;
  const first = Math.max(1, streamSeqOf(afterSeq));
  const range = { first, last: hub.streamSeq, page: Math.min(MAX_PAGE, Math.max(MIN_PAGE, limit)) };
  const found: HubEvent[] = [];
  let previous: number | null = afterSeq === 0 ? 0 : null;
  let throughSeq = afterSeq;
  let chars = 0;
  let read = 0;
  let hasMore = false;
  for await (const stored of commitsBetween(source, subjectOf(filter, source.world), range)) {
    hasMore = found.length > limit || chars > MAX_CHARS || read >= MAX_COMMITS;
    if (hasMore) break;
    for (const event of await loadEvents(source, stored)) {
      if (!matches(event, filter)) continue;
      if (event.seq <= afterSeq) {
        previous = event.seq;
        continue;
      }
      found.push(event);
      chars += event.body.length;
    }
    throughSeq = Math.max(throughSeq, seqOf(stored.streamSeq, limits.eventsPerCommit - 1));
    read += 1;
  }
  const events = found.slice(0, limit);
  if (linked && previous === null && events.length > 0)
    previous = await lastMatchBefore(source, filter, seqOf(first, 0));
  if (!hasMore && found.length <= limit)
    return { events, previous: previous ?? 0, hasMore: false, throughSeq: latestSeq };
  return { events, previous: previous ?? 0, hasMore: true, throughSeq };
}

function pageJson(page: Page, { afterSeq, limit, filter, linked }: Wanted, latestSeq: number): string {
  let previous = page.previous;
  const texts = page.events.map((event) => {
    const text = linked ? eventJsonAfter(event, previous) : eventJson(event);
    previous = event.seq;
    return text;
  });
  const last = page.events.at(-1)?.seq ?? afterSeq;
  // Events that were looked at and not wanted are behind the client too.
  const isWhole = page.events.length < limit && (page.hasMore || filter !== null);
  const next = isWhole ? Math.max(last, page.throughSeq) : last;
  return `{"events":[${texts.join(',')}],"latestSeq":${latestSeq},"nextAfterSeq":${next},"hasMore":${page.hasMore}}`;
}
