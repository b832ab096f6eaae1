import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Redactor, redacted } from './index.ts';

const secret = 'sk-9f8e7d6c5b4a3210';

/** The rule in its plainest form. */
function holdsRun(text: string, values: string[], size = 8): boolean {
  return values.some((value) => {
    for (let at = 0; at + size <= value.length; at++) if (text.includes(value.slice(at, at + size))) return true;
    return false;
  });
}

function inPieces(redactor: Redactor, pieces: string[]): string {
  const stream = redactor.stream();
  return pieces.map((piece) => stream.push(piece)).join('') + stream.end();
}

describe('Redactor', () => {
  it('finds a value, and any eight characters of it in a row', () => {
    const redactor = new Redactor([secret]);
    expect(redactor.redact(`key ${secret}.`)).toBe(`key ${redacted}.`);
    expect(redactor.redact(`a${secret.slice(3, 11)}b`)).toBe(`a${redacted}b`);
    expect(redactor.redact(`a${secret.slice(3, 10)}b`)).toBe(`a${secret.slice(3, 10)}b`);
    expect(redactor.redact(`${secret}${secret} and ${secret}`)).toBe(`${redacted} and ${redacted}`);
    expect(redactor.redact('nothing here')).toBe('nothing here');
  });

  it('finds short values only as a whole', () => {
    const redactor = new Redactor(['pw1', '']);
    expect([redactor.contains('pw1'), redactor.contains('my pw1'), redactor.contains('')]).toEqual([
      true,
      false,
      false,
    ]);
    expect(redactor.redact('pw1')).toBe(redacted);
    expect(redactor.redact('my pw1')).toBe('my pw1');
  });

  it('keeps a rotated value protected', () => {
    const redactor = new Redactor([secret]);
    redactor.add('another-value-1');
    expect(redactor.redact(`${secret} another-value-1`)).toBe(`${redacted} ${redacted}`);
  });

  it('looks into every string and key of a JSON value', () => {
    const redactor = new Redactor([secret]);
    for (const value of [secret, [1, [secret]], { a: { b: [null, `x${secret}`] } }, { [`k${secret}`]: 1 }]) {
      expect(redactor.contains(value)).toBe(true);
      expect(redactor.contains(redactor.redactValue(value))).toBe(false);
    }
    const clean = { a: [1, null, true, 'text'] };
    expect(redactor.contains(clean)).toBe(false);
    expect(redactor.redactValue(clean)).toBe(clean);
    expect(redactor.redactValue({ a: [secret, 1] })).toEqual({ a: [redacted, 1] });
  });

  it('finds a value that was escaped into JSON text', () => {
    const odd = 'p"q\\r\nstu"v';
    const redactor = new Redactor([odd]);
    expect(redactor.contains(JSON.stringify({ token: odd }))).toBe(true);
    expect(redactor.redact(JSON.stringify({ token: odd }))).toBe(`{"token":"${redacted}"}`);
  });

  it('agrees with the plain rule for any values and text', () => {
    const value = fc.string({ unit: fc.constantFrom('a', 'b', 'é'), minLength: 8, maxLength: 14 });
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é'), maxLength: 40 });
    fc.assert(
      fc.property(fc.array(value, { maxLength: 3 }), text, (values, sample) => {
        const redactor = new Redactor(values);
        expect(redactor.contains(sample)).toBe(holdsRun(sample, values));
        expect(holdsRun(redactor.redact(sample), values)).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('Redactor.stream', () => {
  it('holds nothing of ordinary text back', () => {
    const stream = new Redactor([secret]).stream();
    expect(stream.push('Hello')).toBe('Hello');
    expect(stream.push(' world, s')).toBe(' world, s');
    expect(stream.end()).toBe('');
  });

  it('catches a value in pieces and passes the rest on', () => {
    const redactor = new Redactor([secret]);
    expect(inPieces(redactor, ['the key ', secret, ' ends'])).toBe(`the key ${redacted} ends`);
    expect(inPieces(redactor, ['the key sk-9', 'f8e7d6', 'c5b4a3210 ends'])).toBe(`the key ${redacted} ends`);
    expect(inPieces(redactor, ['the key sk-9f8', 'g'])).toBe('the key sk-9f8g');
    expect(inPieces(redactor, ['sk-9f8e'])).toBe('sk-9f8e');
    // Character by character the first three are gone before they mean anything.
    expect(inPieces(redactor, `a ${secret} b ${secret}`.split(''))).toBe(`a sk-${redacted} b sk-${redacted}`);
  });

  it('lets no run through and changes nothing else, however the text is cut', () => {
    const unit = fc.constantFrom('a', 'b', 'c', ' ');
    const value = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 8, maxLength: 16 });
    const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(
        fc.array(value, { maxLength: 3 }),
        fc.array(fc.string({ unit, maxLength: 12 })),
        sizes,
        (values, parts, cuts) => {
          const text = parts.map((part, n) => part + (values[n] ?? '')).join('');
          const pieces: string[] = [];
          for (let at = 0, n = 0; at < text.length; n++) {
            const size = cuts[n % cuts.length] ?? 1;
            pieces.push(text.slice(at, at + size));
            at += size;
          }
          const redactor = new Redactor(values);
          const out = inPieces(redactor, pieces);
          expect(holdsRun(out, values)).toBe(false);
          if (!redactor.contains(text)) expect(out).toBe(text);
          // What is left is the text without some of its characters.
          let at = 0;
          for (const char of out.replaceAll(redacted, '')) {
            at = text.indexOf(char, at) + 1;
            expect(at).toBeGreaterThan(0);
          }
        },
      ),
      { numRuns: 1000 },
    );
  });
});
