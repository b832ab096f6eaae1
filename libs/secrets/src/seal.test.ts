import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deriveKey, open, parseMasterKey, type SealPlace, seal } from './index.ts';

const master = parseMasterKey('00'.repeat(31).concat('01')) ?? Buffer.alloc(0);
const key = deriveKey(master, 'vault_provider');
const place: SealPlace = { bucket: 'vault_provider', item: 'deepseek', field: 'apiKey', revision: 3 };

const code = (run: () => unknown): unknown => {
  try {
    run();
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
  return 'none';
};

describe('sealing', () => {
  it('derives one key a bucket by HKDF-SHA256', () => {
    // Computed with another implementation: hkdf(sha256, ikm = 31 zero bytes and 01, no salt, info = name, 32 bytes).
    expect(Buffer.from(key).toString('hex')).toBe('a6b84cdbd980c2b050c5c4c1866091ad4ffe8d70c24319617013de4d8ce9f49a');
    expect(key).toHaveLength(32);
    expect(deriveKey(master, 'vault_channel')).not.toEqual(key);
  });

  it('opens what it sealed, and never seals the same way twice', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (value) => {
        const sealed = seal(key, place, value);
        expect(open(key, place, sealed)).toBe(value);
        expect(seal(key, place, value)).not.toBe(sealed);
      }),
    );
  });

  it('opens at no other place, with no other key', () => {
    const sealed = seal(key, place, 'sk-1');
    const others: SealPlace[] = [
      { ...place, bucket: 'vault_channel' },
      { ...place, item: 'other' },
      { ...place, field: 'header' },
      { ...place, revision: 4 },
      { ...place, item: 'deepseek/apiKey', field: '3' },
    ];
    for (const other of others) expect(code(() => open(key, other, sealed))).toBe('VAULT_LOCKED');
    expect(code(() => open(deriveKey(master, 'vault_channel'), place, sealed))).toBe('VAULT_LOCKED');
    // A slash in a name does not make two places one.
    const slashed = seal(key, { ...place, item: 'a/b', field: 'c' }, 'x');
    expect(code(() => open(key, { ...place, item: 'a', field: 'b/c' }, slashed))).toBe('VAULT_LOCKED');
  });

  it('refuses any changed byte and any other shape', () => {
    const sealed = seal(key, place, 'sk-1');
    const [version = '', iv = '', body = ''] = sealed.split('.');
    for (let at = 0; at < 20; at++) {
      const bytes = Buffer.from(body, 'base64url');
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      expect(code(() => open(key, place, `${version}.${iv}.${bytes.toString('base64url')}`))).toBe('VAULT_LOCKED');
    }
    for (const text of ['', 'sk-1', `rk2.${iv}.${body}`, `rk1.${iv}.`, `rk1.${iv}`, `${sealed}.x`, `rk1..${body}`]) {
      expect(code(() => open(key, place, text))).toBe('VAULT_LOCKED');
    }
  });

  it('refuses keys of another length', () => {
    expect(parseMasterKey('ab')).toBeNull();
    expect(code(() => deriveKey(randomBytes(16), 'b'))).toBe('VAULT_LOCKED');
    expect(code(() => seal(randomBytes(16), place, 'x'))).toBe('VAULT_LOCKED');
  });
});
