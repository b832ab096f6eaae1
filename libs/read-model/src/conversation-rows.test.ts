import { join } from 'node:path';
import { type ConversationTables, conversationProjection } from '@rookery/kernel';
import { encodeStored, sampleConversation, temporaryFolder } from '@rookery/testkit';
import { afterAll, describe, expect, it } from 'vitest';
import { Applier } from './applier.ts';
import { prepareFile } from './prepare-file.ts';
import { ReadConnection } from './reader.ts';

const folder = await temporaryFolder('rows');
afterAll(() => folder.remove());

/** Rows after some commits of a thread with two turns, the second made from the steer that the first left over. */
function after(commits: number) {
  const path = join(folder.path, `${commits}.db`);
  const { db } = prepareFile(path, conversationProjection);
  new Applier(db, conversationProjection).apply(journal.slice(0, commits).map(encodeStored));
  db.close();
  return new ReadConnection<ConversationTables>(path);
}

const journal = sampleConversation({ turns: 2, deltas: 2 });
const find = (type: string, from = 0) =>
  journal.findIndex(({ commit }, index) => index >= from && commit.events.some((event) => event.type === type)) + 1;
const settledAt = find('run.settled');
const secondSettledAt = find('run.settled', settledAt);

describe('rows of a conversation', () => {
  it('show a queued turn without a claim to the sweep', () => {
    const db = after(find('run.claimed') - 1);
    const queued = db.all(
      db.query
        .selectFrom('runs')
        .select(['holder', 'epoch', 'last_stream_seq', 'status'])
        .where('status', '=', 'queued'),
    );
    expect(queued).toEqual([{ holder: null, epoch: 0, last_stream_seq: 0, status: 'queued' }]);
  });

  it('show a running run with its holder, head and open call, and the text that streams', () => {
    const second = find('item.delta') + 1;
    const db = after(second);
    const run = db.first(db.query.selectFrom('runs').selectAll().where('status', '=', 'running'));
    expect(run).toMatchObject({
      holder: 'host-0-boot',
      epoch: 1,
      last_stream_seq: second,
      client_request_id: 'turn-1',
      params_sha256: 'ab'.repeat(32),
      settled_at: null,
      agent_id: 'main',
      world: 'home',
    });
    const chunks = db.all(db.query.selectFrom('stream_chunks').select('text').orderBy('ordinal'));
    expect(chunks).toEqual([{ text: 'word 0 ' }, { text: 'word 1 ' }]);
    const calls = db.all(
      db.query.selectFrom('model_calls').select(['call_ordinal', 'outcome']).orderBy('call_ordinal'),
    );
    expect(calls).toEqual([
      { call_ordinal: 1, outcome: 'completed' },
      { call_ordinal: 2, outcome: null },
    ]);
  });

  it('show what a settled run leaves: its items in order, its usage, its process, its steer', () => {
    const db = after(settledAt);
    const items = db.all(
      db.query.selectFrom('items').select(['ordinal', 'kind', 'role', 'status', 'content']).orderBy('ordinal'),
    );
    expect(items).toEqual([
      { ordinal: 1, kind: 'message', role: 'user', status: 'completed', content: 'question 1' },
      { ordinal: 2, kind: 'tool_call', role: 'assistant', status: 'completed', content: '' },
      { ordinal: 3, kind: 'tool_result', role: 'tool', status: 'completed', content: '{"ok":true,"output":"Linux"}' },
      { ordinal: 4, kind: 'message', role: 'assistant', status: 'completed', content: 'word 0 word 1 ' },
      { ordinal: 5, kind: 'message', role: 'user', status: 'cancelled', content: 'and then?' },
    ]);
    const tokens = db.first(db.query.selectFrom('model_usages').select((eb) => eb.fn.sum('total_tokens').as('sum')));
    expect(tokens).toEqual({ sum: 30 });
    expect(db.all(db.query.selectFrom('process_sessions').select('state'))).toEqual([{ state: 'exited' }]);
    expect(db.all(db.query.selectFrom('stream_chunks').selectAll())).toEqual([]);
    const left = db.all(db.query.selectFrom('pending_steers').selectAll().where('left_at', 'is not', null));
    expect(left).toMatchObject([{ content: 'and then?', client_request_id: 'steer-1' }]);
    const turn = db.first(db.query.selectFrom('turns').select(['status', 'ordinal', 'submitted_seq', 'updated_at']));
    const at = journal[settledAt - 1]?.commit.at;
    expect(turn).toEqual({ status: 'completed', ordinal: 1, submitted_seq: 2, updated_at: at });
    expect(db.first(db.query.selectFrom('threads').select('updated_at'))).toEqual({ updated_at: at });
  });

  it('have no pending steer once the turn made from it is submitted', () => {
    expect(
      after(settledAt + 1)
        .prepare('SELECT count(*) FROM pending_steers')
        .pluck()
        .get(),
    ).toBe(0);
    const db = after(secondSettledAt);
    const open = db.prepare(`SELECT count(*) FROM turns WHERE status IN ('queued', 'running')`).pluck().get();
    expect(open).toBe(0);
  });

  it('are found by an index wherever a list, the sweep or a retry looks for them', () => {
    const db = after(1);
    const plan = (sql: string) =>
      db
        .prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map((row) => row.detail)
        .join('; ');
    const queries = [
      'SELECT * FROM threads WHERE archived_at IS NULL ORDER BY updated_at DESC, id LIMIT 50',
      `SELECT * FROM threads WHERE archived_at IS NULL AND updated_at <= 'x' ORDER BY updated_at DESC, id LIMIT 50`,
      'SELECT * FROM threads WHERE archived_at IS NOT NULL ORDER BY updated_at DESC, id LIMIT 50',
      `SELECT * FROM turns WHERE branch_id = 'b' AND ordinal < 5 ORDER BY ordinal DESC LIMIT 32`,
      `SELECT * FROM runs WHERE turn_id = 'u' ORDER BY created_at, id`,
      `SELECT * FROM items WHERE turn_id = 'u' ORDER BY ordinal`,
      `SELECT * FROM turns WHERE thread_id = 't' AND status IN ('queued', 'running') ORDER BY submitted_seq`,
      `SELECT * FROM runs WHERE status = 'queued' ORDER BY created_at, id`,
      `SELECT * FROM runs WHERE status = 'running' AND holder = 'h'`,
      `SELECT * FROM runs WHERE thread_id = 't' AND client_request_id = 'c'`,
      'SELECT * FROM pending_steers WHERE left_at IS NOT NULL ORDER BY received_seq',
      `SELECT * FROM process_sessions WHERE thread_id = 't' AND state = 'running'`,
      `SELECT * FROM stream_chunks WHERE item_id = 'i' ORDER BY ordinal`,
    ];
    for (const sql of queries) {
      expect.soft(plan(sql), sql).toMatch(/USING (COVERING )?(INDEX|PRIMARY KEY)/);
      expect.soft(plan(sql), sql).not.toContain('TEMP B-TREE');
    }
  });
});
