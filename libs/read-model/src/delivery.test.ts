import { readFileSync } from 'node:fs';
import {
  channelsProjection,
  conversationProjection,
  memoryProjection,
  memorySourcesProjection,
  type Projection,
} from '@rookery/kernel';
import { parseSubject, type StoredCommit, sha256Hex } from '@rookery/protocol';
import { encodeStored, sampleConversation } from '@rookery/testkit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Applier } from './applier.ts';
import { createTables } from './bookkeeping.ts';
import { openDatabase } from './database.ts';
import { digest } from './digest.ts';

/** A stream of memories beside the conversations, as the service writes them. */
const memories: StoredCommit[] = Array.from({ length: 12 }, (_, index) => {
  const [memoryId, revision] = [`memory_${index % 4}`, Math.floor(index / 4) + 1];
  const subject = `memory.home.main.memory.${memoryId}`;
  const content = `revision ${revision}`;
  const made = { memoryId, content, contentSha256: sha256Hex(content), revision };
  const first = { ...made, kind: 'fact', scope: { type: 'global', key: null }, source: null };
  const event =
    revision === 1 ? { type: 'memory.created', payload: first } : { type: 'memory.corrected', payload: made };
  const cause = `c${index}`;
  const at = `2026-11-30T12:00:${index + 10}.000Z`;
  const commit = { v: 1, id: `${subject}/${cause}/0`, cause, at, by: 'test', agentId: 'main', events: [event] };
  return { streamSeq: index + 1, subject, commit };
});

const conversations = sampleConversation({ threads: 2, turns: 2 });
const recorded = readFileSync(new URL('../../../tests/histories/v1/channels.jsonl', import.meta.url), 'utf8');
const deliveries: StoredCommit[] = recorded
  .trimEnd()
  .split('\n')
  .map((line, index) => {
    const { subject, commit } = JSON.parse(line);
    return { streamSeq: index + 1, subject, commit };
  });

const cases: { projection: Projection; commits: StoredCommit[] }[] = [
  { projection: conversationProjection, commits: conversations },
  { projection: memorySourcesProjection, commits: conversations },
  { projection: channelsProjection, commits: deliveries },
  { projection: memoryProjection, commits: memories },
];

function freshModel(projection: Projection) {
  const db = openDatabase(':memory:', { synchronous: 'NORMAL' });
  createTables(db, projection);
  return { db, applier: new Applier(db, projection) };
}

/** What belongs together: a thread with its runs, processes and the deliveries that it came from; elsewhere one subject. */
function ownerOf({ subject, commit }: StoredCommit): string {
  const place = parseSubject(subject);
  if (place?.kind === 'channel') return subject.endsWith('CHAT2') ? 't2' : 't1';
  return place !== null && 'threadId' in place ? place.threadId : `${commit.agentId} ${subject}`;
}

/** Another journal of the same facts: each owner's commits in their order, the owners mixed as `picks` says. */
function interleave(commits: readonly StoredCommit[], picks: readonly number[]): StoredCommit[] {
  const owners = [...new Set(commits.map(ownerOf))];
  const queues = owners.map((owner) => commits.filter((stored) => ownerOf(stored) === owner));
  const out: StoredCommit[] = [];
  for (let n = 0; queues.length > 0; n += 1) {
    const at = (picks[n % picks.length] ?? 0) % queues.length;
    const next = queues[at]?.shift();
    if (next === undefined) queues.splice(at, 1);
    else out.push({ ...next, streamSeq: out.length + 1 });
  }
  return out;
}

/** Rows as text, without what names a place in the stream. */
function rowsOf(db: ReturnType<typeof openDatabase>, projection: Projection): string[] {
  const placed = ['submitted_seq', 'last_stream_seq', 'received_seq'];
  const isPlace = ([name, value]: [string, unknown]) =>
    placed.includes(name) || (name === 'id' && typeof value === 'number');
  return projection.ddl
    .map((statement) => /^CREATE TABLE (\w+)/.exec(statement)?.[1])
    .flatMap((table) => (table === undefined ? [] : db.prepare<[], object>(`SELECT '${table}', * FROM ${table}`).all()))
    .map((row) => JSON.stringify(Object.entries(row).filter((entry) => !isPlace(entry))))
    .sort();
}

describe.each(cases)('deliveries to $projection.name', ({ projection, commits }) => {
  const messages = commits.map(encodeStored);
  const expected = (() => {
    const { db, applier } = freshModel(projection);
    applier.apply(messages);
    const rows = rowsOf(db, projection);
    if (rows.length === 0) throw new Error('these commits make no rows');
    return { digest: digest(db), rows, checkpoint: applier.checkpoint };
  })();

  it('that are shuffled and repeated give the rows of the journal, and never a commit before the one ahead of it', () => {
    const message = fc.integer({ min: 0, max: messages.length - 1 });
    fc.assert(
      fc.property(fc.array(fc.array(message, { minLength: 1, maxLength: 8 }), { maxLength: 30 }), (batches) => {
        const { db, applier } = freshModel(projection);
        const accepted: number[] = [];
        const deliver = (batch: typeof messages) => {
          accepted.push(...applier.apply(batch).accepted.map(({ streamSeq }) => streamSeq));
        };
        for (const batch of batches) deliver(batch.flatMap((index) => messages[index] ?? []));
        // What a consumer does on a hole: it begins again behind the checkpoint.
        deliver(messages.slice(applier.checkpoint.appliedSeq));
        expect(accepted).toEqual(messages.map(({ streamSeq }) => streamSeq));
        expect(digest(db)).toEqual(expected.digest);
        expect(applier.checkpoint).toEqual(expected.checkpoint);
        db.close();
      }),
      { numRuns: 15 },
    );
  }, 60_000);

  it('may come in any order between threads and memories: the rows of each are the same', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50), { minLength: 1, maxLength: 20 }), (picks) => {
        const { db, applier } = freshModel(projection);
        applier.apply(interleave(commits, picks).map(encodeStored));
        expect(applier.quarantined).toBe(0);
        expect(rowsOf(db, projection)).toEqual(expected.rows);
        db.close();
      }),
      { numRuns: 15 },
    );
  }, 60_000);
});
