import type { WireEvent } from '@rookery/protocol';
import type { Violation } from './checker.ts';
import { eventText, expectedEvents, type HistoryCommit } from './fold.ts';

export interface ClientHistory {
  name: string;
  events: readonly WireEvent[];
  /** The client saw everything behind this seq; default from the beginning. */
  afterSeq?: number;
  /** False where the client may have been cut off before the end. */
  complete?: boolean;
}

const SHOWN = 5;
const shorten = (text: string): string => (text.length > 600 ? `${text.slice(0, 600)}…` : text);

/** A client saw exactly the events of the journal, in order, each once, byte for byte, with the right prevSeq. */
export function checkClients(client: ClientHistory, commits: readonly HistoryCommit[]): Violation[] {
  const { name, events, afterSeq = 0, complete = true } = client;
  const expected = expectedEvents(commits).filter(({ seq }) => seq > afterSeq);
  const bySeq = new Map(expected.map((event) => [event.seq, event]));
  const out: Violation[] = [];
  const add = (rule: string, detail: string) => out.push({ rule, detail: `${name}: ${detail}` });
  let lastSeq = afterSeq;
  const seen = new Set<number>();
  for (const event of events) {
    if (event.seq <= lastSeq) add('client-order', `${event.seq} after ${lastSeq}`);
    lastSeq = event.seq;
    seen.add(event.seq);
    const wanted = bySeq.get(event.seq);
    if (wanted === undefined) add('client-extra', `${event.seq} ${event.type} is not in the journal`);
    else {
      if (eventText(event) !== wanted.text)
        add('client-bytes', `${event.seq} is ${shorten(eventText(event))}, not ${shorten(wanted.text)}`);
      if (event.prevSeq !== undefined && event.prevSeq !== wanted.prevSeq) {
        add('client-prev', `${event.seq} names ${event.prevSeq} as the one before, not ${wanted.prevSeq}`);
      }
    }
  }
  const missing = expected.filter(({ seq }) => !seen.has(seq) && (complete || seq < lastSeq));
  for (const { text } of missing.slice(0, SHOWN)) add('client-missing', shorten(text));
  if (missing.length > SHOWN) add('client-missing', `and ${missing.length - SHOWN} more`);
  return out;
}
