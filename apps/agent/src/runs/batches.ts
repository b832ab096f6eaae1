import { type Draft, MAX_DELTA_CHARS } from '@rookery/kernel';
import { limits } from '@rookery/protocol';

/** Bytes of events that are put into one commit, well below its limit. */
export const BATCH_BYTES = 256 * 1024;

/** Joins deltas of one message that wait together: the journal's pace decides how many there are. */
export function mergeDeltas(events: readonly Draft[]): Draft[] {
  const out: Draft[] = [];
  for (const event of events) {
    const last = out.at(-1);
    const joins = event.type === 'item.delta' && last?.type === 'item.delta' && last.itemId === event.itemId;
    if (joins && last.payload.delta.length + event.payload.delta.length <= MAX_DELTA_CHARS) {
      out[out.length - 1] = { ...last, payload: { delta: last.payload.delta + event.payload.delta } };
    } else out.push(event);
  }
  return out;
}

/** Cuts events into commits that stay below the limits; one input may hold more than a commit can. */
export function commitsOf(events: readonly Draft[]): Draft[][] {
  const out: Draft[][] = [];
  let current: Draft[] = [];
  let bytes = 0;
  for (const event of events) {
    const size = Buffer.byteLength(JSON.stringify(event));
    if (current.length > 0 && (bytes + size > BATCH_BYTES || current.length === limits.eventsPerCommit)) {
      out.push(current);
      current = [];
      bytes = 0;
    }
    current.push(event);
    bytes += size;
  }
  if (current.length > 0) out.push(current);
  return out;
}
