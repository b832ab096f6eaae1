import { describe, expect, it } from 'vitest';
import { ToolFailure } from '../tool-call.ts';
import { linePattern } from './line-pattern.ts';

function refused(source: string): string {
  try {
    linePattern(source);
    return 'accepted';
  } catch (error) {
    return error instanceof ToolFailure ? error.errorCode : 'other';
  }
}

const test = (source: string, line: string) => new RegExp(linePattern(source).js, 'v').test(line);

describe('linePattern', () => {
  it('takes braces and closing brackets for themselves where they are no quantifier', () => {
    expect(test('function f() {', 'function f {')).toBe(true);
    expect(test('a{2}', 'aa')).toBe(true);
    expect(test('a{2}$', 'xa')).toBe(false);
    expect(test('{}', '{}')).toBe(true);
    expect(test('x]', 'x]')).toBe(true);
  });

  it('passes over the CR of CRLF at the end of a line', () => {
    expect(test('foo$', 'foo\r')).toBe(true);
    expect(test('foo$', 'foo \r')).toBe(false);
  });

  it('knows words of every script', () => {
    expect(test('^\\w+$', 'é文_1')).toBe(true);
    expect(test('\\bé\\b', 'é')).toBe(true);
    expect(test('\\bé\\b', 'éa')).toBe(false);
    expect(test('^[^\\W\\d]$', '1')).toBe(false);
  });

  it('reads classes', () => {
    expect(test('^[]a-c&&-]+$', ']abc&-')).toBe(true);
    expect(test('^[[:digit:]_]+$', '12_')).toBe(true);
    expect(test('^[^a]$', 'a')).toBe(false);
    expect(test('^[\\d\\-.]+$', '1-.')).toBe(true);
  });

  it('refuses what the two matchers would understand differently', () => {
    const refusedPatterns = [
      '(?=a)',
      '(?<!a)b',
      '(a)\\1',
      '\\k<x>',
      'a(?i)b',
      'a\\n',
      'a\nb',
      '*a',
      'a**',
      '(a',
      'a)',
      '[a',
    ];
    for (const source of [...refusedPatterns, '\\q', '\\xzz', '\\u{110000}', '[[:nope:]]', '\\']) {
      expect([source, refused(source)]).toEqual([source, 'invalid_pattern']);
    }
  });
});
