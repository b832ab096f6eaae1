import { type StreamSpec, streams } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { streamDifferences } from './differences.ts';

const [journal] = streams as [StreamSpec, ...StreamSpec[]];
const found = (change: Record<string, unknown> = {}): Record<string, unknown> => ({
  ...journal.config,
  name: 'JOURNAL',
  subjects: ['journal.>'],
  num_replicas: 3,
  metadata: { a: 'b' },
  ...change,
});

describe('a stream that is there', () => {
  it('is as wanted with other keys, replicas and another window for duplicates', () => {
    expect(streamDifferences(journal, found())).toEqual([]);
    expect(streamDifferences(journal, found({ duplicate_window: 1 }))).toEqual([]);
  });

  it('may leave out what is false', () => {
    expect(streamDifferences(journal, found({ deny_delete: undefined, deny_purge: undefined }))).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['subjects', ['journal.>', 'more.>']],
    ['subjects', []],
    ['storage', 'memory'],
    ['retention', 'workqueue'],
    ['discard', 'old'],
    ['compression', 's2'],
    ['allow_direct', undefined],
    ['deny_delete', true],
    ['deny_purge', true],
    ['max_age', 1_000_000_000],
    ['max_bytes', 1024],
    ['max_msgs', 1],
    ['max_msgs_per_subject', 1],
  ])('differs by its %s %j, and that is named', (name, value) => {
    expect(streamDifferences(journal, found({ [name]: value }))).toEqual([
      expect.stringContaining(`JOURNAL.${name}: `),
    ]);
  });
});
