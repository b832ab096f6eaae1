import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutLine, LineSplitter, MAX_LINE_CHARACTERS } from './text-lines.ts';

function split(pieces: readonly string[]): string[] {
  const splitter = new LineSplitter();
  const lines = pieces.flatMap((piece) => [...splitter.push(piece)]);
  return [...lines, ...splitter.end()].map((line) => line.text);
}

describe('LineSplitter', () => {
  it('ends lines at LF, CRLF and CR', () => {
    expect(split(['a\nb\r\nc\rd'])).toEqual(['a', 'b', 'c', 'd']);
    expect(split(['a\n\n', '\n'])).toEqual(['a', '', '']);
    expect(split([''])).toEqual([]);
    expect(split(['a\r', '\nb'])).toEqual(['a', 'b']);
    expect(split(['a\r', 'b'])).toEqual(['a', 'b']);
    expect(split(['a\r', '', '\n\n'])).toEqual(['a', '']);
  });

  it('gives the same lines however the text is cut into pieces', () => {
    const text = fc.array(fc.constantFrom('a', 'é', '\r', '\n', '\r\n'), { maxLength: 20 });
    fc.assert(
      fc.property(text, fc.array(fc.nat(20), { maxLength: 5 }), (parts, cuts) => {
        const whole = parts.join('');
        const at = [0, ...cuts.map((cut) => Math.min(cut, whole.length)).sort((a, b) => a - b), whole.length];
        const pieces = at.slice(1).map((end, index) => whole.slice(at[index], end));
        const expected = whole.split(/\r\n|\n|\r/);
        if (expected.at(-1) === '') expected.pop();
        expect(split(pieces)).toEqual(expected);
      }),
    );
  });

  it('keeps 2,000 characters of a line that comes in many pieces', () => {
    const splitter = new LineSplitter();
    for (let piece = 0; piece < 100; piece += 1) expect([...splitter.push('😀'.repeat(100))]).toEqual([]);
    const [line] = splitter.end();
    expect(line).toEqual({ text: '😀'.repeat(MAX_LINE_CHARACTERS), cut: true });
  });
});

describe('cutLine', () => {
  it('leaves 2,000 characters and cuts one more', () => {
    expect(cutLine('x'.repeat(2000)).cut).toBe(false);
    expect(cutLine('x'.repeat(2001))).toEqual({ text: 'x'.repeat(2000), cut: true });
    expect(cutLine('😀'.repeat(2000)).cut).toBe(false);
  });
});
