import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodePage, unfinished } from './utf8-page.ts';

const decode = (bytes: Buffer, limit = 100, final = false) => decodePage(bytes, { limit, skipPartial: false, final });

describe('decodePage', () => {
  it('keeps back an unfinished character unless nothing follows', () => {
    const cut = Buffer.from('a文').subarray(0, 3);
    expect(decode(cut)).toEqual({ text: 'a', used: 1 });
    expect(decode(cut, 100, true)).toEqual({ text: 'a\u{fffd}', used: 3 });
  });

  it('skips the rest of a character whose beginning was dropped', () => {
    const cut = Buffer.from('文b').subarray(1);
    expect(decodePage(cut, { limit: 100, skipPartial: true, final: true })).toEqual({ text: 'b', used: 3 });
  });

  it('never exceeds its limit, also where bytes are no text', () => {
    const noise = Buffer.alloc(1000, 0xff);
    const { text, used } = decode(noise, 1000);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1000);
    expect(used).toBeGreaterThan(0);
  });

  it('gives a text back whole, whatever the pages', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.integer({ min: 4, max: 20 }), (text, size) => {
        const whole = Buffer.from(text).toString();
        const bytes = Buffer.from(whole);
        let result = '';
        for (let at = 0; at < bytes.length; ) {
          const page = decodePage(bytes.subarray(at, at + size), {
            limit: size,
            skipPartial: false,
            final: at + size >= bytes.length,
          });
          expect(page.used).toBeGreaterThan(0);
          result += page.text;
          at += page.used;
        }
        expect(result).toBe(whole);
      }),
    );
  });
});

it('finds how much of a character is there', () => {
  expect(unfinished(Buffer.from('a'))).toBe(0);
  expect(unfinished(Buffer.from('文'))).toBe(0);
  expect(unfinished(Buffer.from('文').subarray(0, 1))).toBe(1);
  expect(unfinished(Buffer.from('😀').subarray(0, 3))).toBe(3);
  expect(unfinished(Buffer.from([0x80, 0x80, 0x80, 0x80]))).toBe(0);
  expect(unfinished(Buffer.from([0xff]))).toBe(0);
  expect(unfinished(Buffer.alloc(0))).toBe(0);
});
