import { describe, expect, it } from 'vitest';
import { checkArguments, flag, inputSchema, integer, optionalText, text } from './parameters.ts';

const parameters = {
  name: text('a name', 1, 4),
  note: optionalText('a note', 1, 2),
  count: integer('how many', 5, 1, 10),
  deep: flag('all the way'),
};

function refused(value: unknown): boolean {
  return !checkArguments(parameters, value).ok;
}

describe('checkArguments', () => {
  it('fills in what is left out', () => {
    expect(checkArguments(parameters, { name: 'x' })).toEqual({
      ok: true,
      value: { name: 'x', note: null, count: 5, deep: false },
    });
  });

  it('refuses what is no object, lacks a key, or has one too many', () => {
    for (const value of [null, 'x', 1, [], [{ name: 'x' }], {}, { name: 'x', extra: 1 }]) {
      expect(refused(value)).toBe(true);
    }
    expect(refused({ name: 'x', toString: 1 })).toBe(true);
    expect(refused(JSON.parse('{"name":"x","__proto__":{}}'))).toBe(true);
  });

  it('never takes a boolean or a fraction for an integer', () => {
    for (const count of [true, false, 1.5, '5', null, Number.NaN, 2 ** 53]) {
      expect(refused({ name: 'x', count })).toBe(true);
    }
    expect(refused({ name: 'x', deep: 1 })).toBe(true);
    expect(refused({ name: 'x', note: null })).toBe(true);
  });

  it('holds both sides of each bound', () => {
    for (const count of [1, 10]) expect(refused({ name: 'x', count })).toBe(false);
    for (const count of [0, 11]) expect(refused({ name: 'x', count })).toBe(true);
    for (const name of ['x', 'xxxx', '😀😀😀😀']) expect(refused({ name })).toBe(false);
    for (const name of ['', 'xxxxx', '😀😀😀😀😀']) expect(refused({ name })).toBe(true);
  });
});

it('describes itself as a closed JSON Schema', () => {
  expect(inputSchema(parameters)).toEqual({
    type: 'object',
    properties: {
      name: { type: 'string', description: 'a name', minLength: 1, maxLength: 4 },
      note: { type: 'string', description: 'a note', minLength: 1, maxLength: 2 },
      count: { type: 'integer', description: 'how many', minimum: 1, maximum: 10, default: 5 },
      deep: { type: 'boolean', description: 'all the way', default: false },
    },
    required: ['name'],
    additionalProperties: false,
  });
});
