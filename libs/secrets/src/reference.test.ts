import { AppError } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { formatReference, parseReference } from './index.ts';

describe('references', () => {
  it('reads both kinds and writes them back', () => {
    for (const text of ['vault("deepseek","apiKey")', 'vault("my.p","header.X-Key")', 'env("DEEPSEEK_API_KEY")']) {
      const reference = parseReference(text);
      expect(reference && formatReference(reference)).toBe(text);
    }
    expect(parseReference('  vault( "a" , "b" )  ')).toEqual({ kind: 'vault', item: 'a', field: 'b' });
    expect(parseReference('env( "A_1" )')).toEqual({ kind: 'env', name: 'A_1' });
  });

  it('leaves other texts alone', () => {
    for (const text of ['', 'sk-123', 'my vault("a","b")', 'environment', 'vault']) {
      expect(parseReference(text)).toBeUndefined();
    }
  });

  it('refuses what only looks like one', () => {
    for (const text of [
      'vault("a")',
      "vault('a','b')",
      'vault("a","b',
      'vault("a","b") + 1',
      'vault("a b","c")',
      'vault("","b")',
      'env("1A")',
      'env(A)',
      'env("A","B")',
    ]) {
      expect(() => parseReference(text)).toThrow(AppError);
    }
  });
});
