import { type Draft, draft } from '@rookery/kernel';
import { limits } from '@rookery/protocol';
import { expect, test } from 'vitest';
import { BATCH_BYTES, commitsOf, mergeDeltas } from './batches.ts';

const delta = (text: string, itemId = 'item_a'): Draft => draft('item.delta', { delta: text }, itemId);
const bytes = (events: Draft[]) => Buffer.byteLength(JSON.stringify(events));

test('deltas of one message that wait together are joined, those of others and across other events are not', () => {
  const events = [
    delta('a'),
    delta('b'),
    delta('c', 'item_b'),
    draft('run.state_changed', { status: 'running' }),
    delta('d', 'item_b'),
  ];
  const texts = mergeDeltas(events).map((event) => (event.type === 'item.delta' ? event.payload.delta : event.type));
  expect(texts).toEqual(['ab', 'c', 'run.state_changed', 'd']);
});

test('a joined delta never becomes longer than one may be', () => {
  const merged = mergeDeltas([delta('x'.repeat(32_768)), delta('y')]);
  expect(merged).toHaveLength(2);
  expect(mergeDeltas([delta('x'.repeat(32_767)), delta('y')])).toHaveLength(1);
});

test('events are cut into commits that stay below the limits, in order and without loss', () => {
  const long = Array.from({ length: 40 }, (_, n) => delta(String.fromCharCode(0x4e00 + n).repeat(30_000)));
  const commits = commitsOf(long);
  expect(commits.flat()).toEqual(long);
  for (const commit of commits) expect(bytes(commit)).toBeLessThanOrEqual(BATCH_BYTES + 2 + commit.length);
  const many = Array.from({ length: limits.eventsPerCommit + 1 }, () => delta('x'));
  expect(commitsOf(many).map((commit) => commit.length)).toEqual([limits.eventsPerCommit, 1]);
  expect(commitsOf([])).toEqual([]);
});
