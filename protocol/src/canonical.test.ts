import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, canonicalSha256, sha256Hex, uuid5Hex } from './canonical.ts';

/** The same value with the members of every object in another order. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, turned(member)]),
  );
}

describe('canonical JSON', () => {
  it('sorts keys, has no spaces and leaves out what is undefined', () => {
    expect(canonicalJson({ b: [1, { d: null, c: '鸟' }], a: undefined, A: true })).toBe(
      '{"A":true,"b":[1,{"c":"鸟","d":null}]}',
    );
    expect(canonicalJson([undefined, null])).toBe('[null,null]');
  });

  it('is JSON of the same value, and the same in any order of members', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(turned(value))).toBe(canonicalJson(value));
        expect(canonicalSha256(turned(value))).toBe(canonicalSha256(value));
      }),
    );
  });
});

describe('hashes', () => {
  it('are those of the standards', () => {
    expect(sha256Hex('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(sha256Hex('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    // The example of Python's uuid module.
    expect(uuid5Hex('6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'python.org')).toBe('886313e13b8a53729b900c9aee199e5d');
  });

  it('take a namespace with or without dashes and in either case', () => {
    expect(uuid5Hex('6BA7B8109DAD11D180B400C04FD430C8', 'python.org')).toBe('886313e13b8a53729b900c9aee199e5d');
  });
});
