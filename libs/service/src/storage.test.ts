import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { storageLowBytes, watchStorage } from './storage.ts';

const MIB = 1024 * 1024;
let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'rookery-storage-'));
});
afterAll(() => rmSync(home, { recursive: true }));

it('refuses with what is free and what is needed, from the first look on', async () => {
  const seen: unknown[] = [];
  const lowBytes = Number.MAX_SAFE_INTEGER;
  const storage = await watchStorage({ home, lowBytes, lookMs: 60_000, onChange: (refusal) => seen.push(refusal) });
  storage.stop();
  expect(storage.refusal()).toMatchObject({
    code: 'STORAGE_LOW',
    details: { freeBytes: storage.freeBytes(), neededBytes: lowBytes },
  });
  expect(seen).toEqual([storage.refusal()]);
});

it('refuses nothing where there is space, or where the system does not say', async () => {
  for (const folder of [home, join(home, 'nowhere')]) {
    const storage = await watchStorage({ home: folder, lowBytes: 1, lookMs: 60_000 });
    storage.stop();
    expect(storage.refusal()).toBeNull();
  }
});

it('is 256 MiB unless the setting says another number', () => {
  expect(storageLowBytes({})).toBe(256 * MIB);
  expect(storageLowBytes({ ROOKERY_STORAGE_LOW_MIB: '16' })).toBe(16 * MIB);
  expect(() => storageLowBytes({ ROOKERY_STORAGE_LOW_MIB: 'much' })).toThrow(
    expect.objectContaining({ code: 'CONFIG_INVALID' }),
  );
});
