import type { AppError } from '@rookery/protocol';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseStrictJson } from './strict-json.ts';

const refusal = (text: string): string => {
  try {
    parseStrictJson(text);
    return 'accepted';
  } catch (error) {
    const { code, details } = error as AppError;
    return typeof details.reason === 'string' ? details.reason : code;
  }
};

it('reads what JSON.parse reads, where nothing about it is doubtful', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
      const text = JSON.stringify(value);
      if (refusal(text) !== 'number_range') expect(parseStrictJson(text)).toEqual(JSON.parse(text));
    }),
  );
});

it('never throws anything but a refusal', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', '1', 'e', ' ', 'a') }),
      (text) => {
        expect(['accepted', 'PARSE_ERROR', 'duplicate_key', 'too_deep', 'number_range']).toContain(refusal(text));
      },
    ),
  );
});

it.each([
  ['{"a":1,"a":2}', 'duplicate_key'],
  ['{"a":1,"\\u0061":2}', 'duplicate_key'],
  ['{"x":{"a":[{"b":1},{"b":1,"b":2}]}}', 'duplicate_key'],
  ['{"a":{"a":1},"b":["a","a"]}', 'accepted'],
  ['{"a":"{\\"a\\":1,\\"a\\":2}"}', 'accepted'],
  [`${'['.repeat(64)}${']'.repeat(64)}`, 'accepted'],
  [`${'['.repeat(65)}${']'.repeat(65)}`, 'too_deep'],
  ['9007199254740991', 'accepted'],
  ['9007199254740992', 'number_range'],
  ['[-9007199254740993]', 'number_range'],
  ['{"a":1e999}', 'number_range'],
  ['1.5', 'accepted'],
  ['NaN', 'PARSE_ERROR'],
  ['{"a":1}x', 'PARSE_ERROR'],
  ['', 'PARSE_ERROR'],
])('%s: %s', (text, expected) => {
  expect(refusal(text)).toBe(expected);
});
