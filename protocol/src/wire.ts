import { type CommitEvent, type StoredCommit, seqOf } from './envelope.ts';
import { isConversationEvent } from './events.ts';
import type { Item } from './records.ts';
import { parseSubject } from './subjects.ts';

/** `schemaVersion` of every event on the wire. */
export const WIRE_SCHEMA_VERSION = 11;

/** An event as clients see it: ten keys, and `prevSeq` beside them from protocol 13 on. */
export interface WireEvent {
  seq: number;
  schemaVersion: number;
  type: string;
  threadId: string | null;
  branchId: string | null;
  turnId: string | null;
  runId: string | null;
  itemId: string | null;
  timestamp: string;
  payload: Record<string, unknown>;
  prevSeq?: number;
}

/** Which events a subscription wants; none given means all conversation events. */
export interface EventFilter {
  threadIds?: string[] | undefined;
  types?: string[] | undefined;
}

/** The item as clients see it: a tool result carries its parsed content as `data.result`, which is stored once. */
export function presentItem(item: Item): Item {
  if (item.kind !== 'tool_result' || typeof item.content !== 'string') return item;
  try {
    return { ...item, data: { ...item.data, result: JSON.parse(item.content) } };
  } catch {
    return item;
  }
}

function present(event: CommitEvent): Record<string, unknown> {
  const item = event.payload.item as Item | undefined;
  return item?.kind === 'tool_result' ? { ...event.payload, item: presentItem(item) } : event.payload;
}

/** True where an event of a thread passes a filter. */
export function matchesFilter(type: string, threadId: string | null, filter: EventFilter | null): boolean {
  if (!isConversationEvent(type)) return false;
  if (filter === null) return true;
  if (filter.threadIds !== undefined && (threadId === null || !filter.threadIds.includes(threadId))) return false;
  return filter.types === undefined || filter.types.includes(type);
}

/** The conversation events of a commit in wire shape, without `prevSeq`. Blob references must be put back before. */
export function toWireEvents(stored: StoredCommit): WireEvent[] {
  const subject = parseSubject(stored.subject);
  if (subject === null || !('threadId' in subject)) return [];
  const { commit, streamSeq } = stored;
  const out: WireEvent[] = [];
  for (const [index, event] of commit.events.entries()) {
    if (!isConversationEvent(event.type)) continue;
    const scope = {
      ...(commit.turnId === undefined ? {} : { turnId: commit.turnId }),
      ...(commit.runId === undefined ? {} : { runId: commit.runId }),
      ...(event.itemId === undefined ? {} : { itemId: event.itemId }),
    };
    out.push({
      seq: seqOf(streamSeq, index),
      schemaVersion: WIRE_SCHEMA_VERSION,
      type: event.type,
      threadId: subject.threadId,
      branchId: commit.branchId ?? null,
      turnId: commit.turnId ?? null,
      runId: commit.runId ?? null,
      itemId: event.itemId ?? null,
      timestamp: commit.at,
      payload: { ...scope, ...present(event) },
    });
  }
  return out;
}
