import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readCursor, writeCursor } from './cursor.ts';

const refused = expect.objectContaining({ code: 'INVALID_CURSOR' });

it('comes back as it was, from its own list only', () => {
  fc.assert(
    fc.property(fc.string(), fc.integer(), (text, number) => {
      const cursor = writeCursor({ list: 'a' }, [text, number]);
      expect(readCursor({ list: 'a' }, cursor, ['string', 'number'])).toEqual([text, number]);
      expect(() => readCursor({ list: 'b' }, cursor, ['string', 'number'])).toThrow(refused);
      expect(() => readCursor({ list: 'a' }, cursor, ['number', 'string'])).toThrow(refused);
    }),
  );
});

it('is nothing that a client can make', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(() => readCursor({ list: 'a' }, text, ['string'])).toThrow(refused);
    }),
  );
});
