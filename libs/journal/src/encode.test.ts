import { AppError, type Commit, type ErrorCode } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { encodeCommit } from './append.ts';
import { decodeCommit } from './decode.ts';

const delta = (text: string): Commit['events'][number] => ({
  type: 'item.delta',
  itemId: 'i',
  payload: { delta: text },
});
const commitOf = (events: Commit['events']): Commit => ({
  v: 1,
  id: 'c',
  cause: 'c',
  at: '2026-01-01T00:00:00.000Z',
  by: 'agent/h',
  agentId: 'main',
  events,
});

/** A commit of exactly that many bytes. */
function sized(bytes: number): Commit {
  const empty = JSON.stringify(commitOf([delta('')])).length;
  return commitOf([delta('x'.repeat(bytes - empty))]);
}

function codeOf(commit: Commit): ErrorCode | null {
  try {
    encodeCommit(commit);
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}

describe('a commit that is to be appended', () => {
  it('is read back as it was', () => {
    const commit = commitOf([delta('你好 🐦 \ud83d "\\')]);
    const decoded = decodeCommit({ streamSeq: 1, subject: 's', data: encodeCommit(commit), isCommit: true });
    expect(decoded).toEqual({ ok: true, stored: { streamSeq: 1, subject: 's', commit } });
  });

  it('holds 1,024 events and not one more', () => {
    expect(codeOf(commitOf(Array(1024).fill(delta('x'))))).toBeNull();
    expect(codeOf(commitOf(Array(1025).fill(delta('x'))))).toBe('COMMIT_TOO_LARGE');
  });

  it('has 524,288 bytes and not one more', () => {
    expect(encodeCommit(sized(524_288))).toHaveLength(524_288);
    expect(codeOf(sized(524_288))).toBeNull();
    expect(codeOf(sized(524_289))).toBe('COMMIT_TOO_LARGE');
  });

  it('is measured in UTF-8, not in characters', () => {
    expect(codeOf(commitOf([delta('🐦'.repeat(131_000))]))).toBeNull();
    expect(codeOf(commitOf([delta('🐦'.repeat(132_000))]))).toBe('COMMIT_TOO_LARGE');
  });

  it.each<[string, Commit]>([
    ['no events', commitOf([])],
    ['an event that fails its schema', commitOf([delta('x'), delta('')])],
    ['an event of an unknown type', commitOf([{ type: 'item.exploded', payload: {} }])],
    ['a wrong time', { ...commitOf([delta('x')]), at: 'now' }],
  ])('with %s is a defect and is not appended', (_what, commit) => {
    expect(codeOf(commit)).toBe('INTERNAL');
  });
});
