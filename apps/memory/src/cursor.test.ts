import { AppError, limits } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { decodeCursor, encodeCursor } from './cursor.ts';

const filter = { state: 'active' as const, scope: { type: 'workspace' as const, key: 'k'.repeat(200) } };
const position = { updatedAt: '2026-01-01T00:00:00.000Z', id: 'memory_0123456789abcdef0123456789abcdef' };
const codeOf = (cursor: string, of = filter) => {
  try {
    decodeCursor(cursor, of);
    return 'none';
  } catch (error) {
    return error instanceof AppError ? error.code : error;
  }
};

describe('list cursor', () => {
  it('comes back as it was, within its limit', () => {
    const cursor = encodeCursor(position, filter);
    expect(decodeCursor(cursor, filter)).toEqual(position);
    expect(cursor.length).toBeLessThanOrEqual(limits.memoryCursorChars);
  });

  it('is refused with another filter, and where it is none of ours', () => {
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    expect(codeOf(encodeCursor(position, { state: 'active' }))).toBe('INVALID_CURSOR');
    for (const cursor of ['', 'x', encode(null), encode([]), encode({ v: 1, u: 1, i: 2 })]) {
      expect(codeOf(cursor)).toBe('INVALID_CURSOR');
    }
  });
});
