import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SseParser, SseTooLarge } from './sse.ts';

const encoder = new TextEncoder();

function parse(chunks: Uint8Array[], maxChars = 1000): string[] {
  const parser = new SseParser(maxChars);
  const seen: string[] = [];
  for (const chunk of chunks) parser.push(chunk, (data) => seen.push(data));
  parser.end((data) => seen.push(data));
  return seen;
}

function bytewise(text: string): Uint8Array[] {
  return [...encoder.encode(text)].map((byte) => new Uint8Array([byte]));
}

describe('SseParser', () => {
  it.each([
    ['LF', 'data: a\n\ndata: b\n\n'],
    ['CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n'],
    ['CR', 'data: a\r\rdata: b\r\r'],
    ['mixed', 'data: a\r\n\rdata: b\n\r\n'],
    ['no last blank line', 'data: a\n\ndata: b'],
    ['comments and other fields', ': ping\nevent: x\nid: 1\nretry: 5\ndata: a\n\n: ping\n\ndata: b\n\n'],
    ['a byte order mark', '\ufeffdata: a\n\ndata: b\n\n'],
  ])('reads lines that end with %s, whole and byte by byte', (_, text) => {
    expect(parse([encoder.encode(text)])).toEqual(['a', 'b']);
    expect(parse(bytewise(text))).toEqual(['a', 'b']);
  });

  it('joins data lines and takes off one space only', () => {
    expect(parse([encoder.encode('data:  a\ndata:b\ndata\n\n')])).toEqual([' a\nb\n']);
  });

  it('gives the same events for any cut of the bytes', () => {
    const event = fc.array(fc.string({ unit: 'grapheme', maxLength: 12 }), { minLength: 1, maxLength: 3 });
    const newline = fc.constantFrom('\n', '\r', '\r\n');
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 5 }),
        newline,
        fc.array(fc.nat(40), { maxLength: 12 }),
        (all, nl, cuts) => {
          const events = all.map((lines) => lines.map((line) => line.replace(/[\r\n]/g, '·')));
          const text = events.map((lines) => `: c${nl}${lines.map((l) => `data: ${l}${nl}`).join('')}${nl}`).join('');
          const bytes = encoder.encode(text);
          const chunks: Uint8Array[] = [];
          let at = 0;
          for (const cut of [...cuts, bytes.length]) {
            chunks.push(bytes.subarray(at, at + cut));
            at = Math.min(bytes.length, at + cut);
          }
          expect(parse(chunks, 10_000)).toEqual(events.map((lines) => lines.join('\n')));
          expect(parse(bytewise(text), 10_000)).toEqual(events.map((lines) => lines.join('\n')));
        },
      ),
      { numRuns: 200 },
    );
  });

  it('refuses an event, a line without end, and many lines over the limit', () => {
    expect(parse([encoder.encode(`data: ${'x'.repeat(90)}\n\n`)], 100)).toHaveLength(1);
    expect(() => parse([encoder.encode(`data: ${'x'.repeat(100)}\n\n`)], 100)).toThrow(SseTooLarge);
    expect(() => parse(bytewise(`: ${'x'.repeat(100)}`), 100)).toThrow(SseTooLarge);
    expect(() => parse([encoder.encode('data: xxxxxxxx\n'.repeat(20))], 100)).toThrow(SseTooLarge);
  });
});
