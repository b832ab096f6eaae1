import { AppError } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { createVault, deriveKey, type VaultStore } from './index.ts';

const master = new Uint8Array(32).fill(7);
const key = deriveKey(master, 'vault_provider');

/** A bucket in memory with the conditions of NATS KV. */
function memoryStore(): VaultStore & { texts: Map<string, string>; beforePut: () => Promise<void> } {
  const entries = new Map<string, { value: Uint8Array; revision: number }>();
  const texts = new Map<string, string>();
  let sequence = 0;
  return {
    texts,
    beforePut: async () => {},
    async get(name) {
      return entries.get(name) ?? null;
    },
    async put(name, value, expectedRevision) {
      await this.beforePut();
      if (!/^[-/=.\w]+$/.test(name)) throw new Error('not a key');
      const current = entries.get(name)?.revision ?? 0;
      if (expectedRevision !== undefined && expectedRevision !== current) throw new AppError('CONFIG_CONFLICT');
      entries.set(name, { value: new TextEncoder().encode(value), revision: ++sequence });
      texts.set(name, value);
      return sequence;
    },
  };
}

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'none',
    (error: { code?: unknown }) => error.code,
  );

describe('vault', () => {
  it('keeps values by item and field, sealed', async () => {
    const store = memoryStore();
    const vault = createVault(store, 'vault_provider', key);
    await vault.put('my.provider', 'apiKey', 'sk-canary-1');
    await vault.put('my.provider', 'header.X-Key', 'sk-canary-2');
    await vault.put('other', '__proto__', 'sk-canary-3');
    expect(await vault.get('my.provider', 'apiKey')).toBe('sk-canary-1');
    expect(await vault.get('my.provider', 'header.X-Key')).toBe('sk-canary-2');
    expect(await vault.get('other', '__proto__')).toBe('sk-canary-3');
    expect(await vault.get('my.provider', 'toString')).toBeUndefined();
    expect(await vault.get('none', 'apiKey')).toBeUndefined();
    expect(await vault.fields('my.provider')).toEqual(['apiKey', 'header.X-Key']);
    expect([...store.texts.values()].join()).not.toContain('canary');
  });

  it('forgets what is removed', async () => {
    const store = memoryStore();
    const vault = createVault(store, 'vault_provider', key);
    await vault.put('p', 'a', 'one');
    await vault.put('p', 'b', 'two');
    const before = store.texts.get('p') ?? '';
    await vault.remove('p', 'a');
    expect([await vault.get('p', 'a'), await vault.get('p', 'b')]).toEqual([undefined, 'two']);
    await vault.remove('p');
    await vault.remove('p');
    await vault.remove('none');
    expect(await vault.fields('p')).toEqual([]);
    expect(store.texts.get('p')).toBe('{"v":1,"revision":4,"fields":{}}');
    // A value sealed before opens only where the item's counter was the same.
    expect(JSON.parse(before)).toMatchObject({ revision: 2 });
    await vault.put('p', 'a', 'three');
    expect(await vault.get('p', 'a')).toBe('three');
  });

  it('loses no field to another writer', async () => {
    const store = memoryStore();
    const [one, two] = [createVault(store, 'vault_provider', key), createVault(store, 'vault_provider', key)];
    const fields = Array.from({ length: 4 }, (_, n) => `f${n}`);
    await Promise.all(fields.map((field, n) => (n % 2 === 0 ? one : two).put('p', field, field)));
    expect(await one.fields('p')).toEqual(fields);
    store.beforePut = async () => {
      throw new AppError('CONFIG_CONFLICT');
    };
    expect(await codeOf(one.put('p', 'x', 'x'))).toBe('CONFIG_CONFLICT');
  });

  it('refuses another key, a value moved elsewhere, and damage', async () => {
    const store = memoryStore();
    const vault = createVault(store, 'vault_provider', key);
    await vault.put('p', 'a', 'one');
    const stranger = createVault(store, 'vault_provider', deriveKey(master, 'vault_channel'));
    expect(await codeOf(stranger.get('p', 'a'))).toBe('VAULT_LOCKED');
    await store.put('q', store.texts.get('p') ?? '');
    expect(await codeOf(vault.get('q', 'a'))).toBe('VAULT_LOCKED');
    await store.put('p', '{"v":2}');
    expect(await codeOf(vault.get('p', 'a'))).toBe('VAULT_LOCKED');
  });

  it('refuses names and values that cannot be', async () => {
    const vault = createVault(memoryStore(), 'vault_provider', key);
    for (const name of ['', 'a b', 'a"b', 'a\\b', 'ä', 'x'.repeat(201)]) {
      expect(await codeOf(vault.put(name, 'f', 'v'))).toBe('CONFIG_INVALID');
      expect(await codeOf(vault.put('i', name, 'v'))).toBe('CONFIG_INVALID');
    }
    expect(await codeOf(vault.put('i', 'f', ''))).toBe('CONFIG_INVALID');
    expect(await codeOf(vault.put('i', 'f', 'x'.repeat(65_537)))).toBe('CONFIG_INVALID');
  });
});
