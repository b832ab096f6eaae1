import type { RawMessage } from './read-stream.ts';

/** A commit as the checker reads it: JSON only, no schema of the product takes part. */
export interface HistoryCommit {
  streamSeq: number;
  subject: string;
  id: string;
  at: string;
  branchId?: string;
  turnId?: string;
  runId?: string;
  events: { type: string; itemId?: string; payload: Record<string, unknown> }[];
}

/** What leaves the gateway, written by hand here: the fold must not share the product's own list. */
const outside = new Set([
  'thread.created',
  'thread.renamed',
  'thread.archived',
  'thread.unarchived',
  'run.state_changed',
  'item.started',
  'item.delta',
  'item.completed',
  'file.change_recorded',
  'process.recorded',
  'model.input_prepared',
  'context.compacted',
  'model.response_finished',
  'run.settled',
  'run.steered',
]);

/** Commits among the messages, in order; what has no commit header is foreign and left out. */
export function commitsOf(messages: readonly RawMessage[]): HistoryCommit[] {
  return messages
    .filter(({ headers }) => headers['Rookery-Commit'] === '1')
    .map(({ streamSeq, subject, text }) => ({ ...JSON.parse(text), streamSeq, subject }));
}

/** One event as a client of protocol 13 must have received it. */
export interface ExpectedEvent {
  seq: number;
  prevSeq: number;
  /** The ten keys as canonical text. */
  text: string;
}

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, sorted(member)]),
  );
};

/** The ten keys of an event as text with sorted keys; prevSeq is compared apart. */
export function eventText(event: object): string {
  const { prevSeq: _, ...ten } = event as Record<string, unknown>;
  return JSON.stringify(sorted(ten));
}

function withResult(payload: Record<string, unknown>): Record<string, unknown> {
  const item = payload.item as { kind?: string; content?: string; data?: object } | undefined;
  if (item?.kind !== 'tool_result' || typeof item.content !== 'string') return payload;
  return { ...payload, item: { ...item, data: { ...item.data, result: JSON.parse(item.content) } } };
}

/** Every event that a client with the default filter must see, in order. */
export function expectedEvents(commits: readonly HistoryCommit[]): ExpectedEvent[] {
  const out: ExpectedEvent[] = [];
  let prevSeq = 0;
  for (const { streamSeq, subject, at, branchId, turnId, runId, events } of commits) {
    const parts = subject.split('.');
    if (parts[0] !== 'journal' || parts[2] !== 'thread') continue;
    for (const [index, { type, itemId, payload }] of events.entries()) {
      if (!outside.has(type)) continue;
      const seq = streamSeq * 1024 + index;
      const mirrors = { ...(turnId && { turnId }), ...(runId && { runId }), ...(itemId && { itemId }) };
      const text = eventText({
        seq,
        schemaVersion: 11,
        type,
        threadId: parts[3],
        branchId: branchId ?? null,
        turnId: turnId ?? null,
        runId: runId ?? null,
        itemId: itemId ?? null,
        timestamp: at,
        payload: { ...mirrors, ...withResult(payload) },
      });
      out.push({ seq, prevSeq, text });
      prevSeq = seq;
    }
  }
  return out;
}
