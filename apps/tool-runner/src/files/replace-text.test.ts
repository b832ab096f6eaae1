import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { replaceText } from './replace-text.ts';

const code = (...args: Parameters<typeof replaceText>): string => {
  const outcome = replaceText(...args);
  return outcome.ok ? outcome.text : outcome.code;
};

describe('replaceText', () => {
  it('replaces one occurrence, or all when asked', () => {
    expect(code('a b c', 'b', 'x', false)).toBe('a x c');
    expect(code('b b', 'b', 'x', false)).toBe('multiple_matches');
    expect(replaceText('b b', 'b', 'x', true)).toEqual({ ok: true, text: 'x x', count: 2 });
    expect(code('a', 'b', 'x', true)).toBe('no_match');
  });

  it('says so where nothing would change, also where only line ends differ', () => {
    expect(code('a', 'a', 'a', false)).toBe('no_change');
    expect(code('a\r\nb', 'a\nb', 'a\r\nb', false)).toBe('no_change');
  });

  it('matches whatever line ends and keeps those of the file', () => {
    expect(code('a\r\nb\r\nc', 'a\nb', 'x\ny\nz', false)).toBe('x\r\ny\r\nz\r\nc');
    expect(code('a\rb\rc', 'b\r\nc', 'x\ny', false)).toBe('a\rx\ry');
    expect(code('a\nb', 'a\r\nb', 'x\r\ny', false)).toBe('x\ny');
  });

  it('leaves the rest of a mixed file alone', () => {
    expect(code('1\r\n2\n3\r4', '1\n2', 'x\ny', false)).toBe('x\r\ny\n3\r4');
  });

  it('never takes the LF out of a CRLF', () => {
    expect(code('a\r\nb', '\nb', '\nc', false)).toBe('a\r\nc');
    expect(code('a\r\nb', 'a\r', 'x\r', false)).toBe('x\r\nb');
  });

  it('takes every character of the old and the new text for itself', () => {
    const special = fc.string({ unit: fc.constantFrom('.', '*', '$', '&', '\\', '(', '[', '{', '^', '/', '-', 'é') });
    fc.assert(
      fc.property(special, special, (old, next) => {
        fc.pre(old !== next && old.length > 0);
        expect(code(`<${old}>`, `<${old}>`, next, false)).toBe(next);
      }),
    );
  });
});
