import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

// What runs before packages are installed is plain JavaScript, without types of its own.
const load = async <T>(name: string): Promise<T> => (await import(new URL(name, import.meta.url).href)) as T;
const { packagesDifference, checkNode } = await load<{
  packagesDifference(root: string): string | null;
  checkNode(version: string): void;
}>('./packages.mjs');
const { stampOf } = await load<{ stampOf(root: string, paths: string[]): string }>('./stamp.mjs');
const { findParts } = await load<{
  findParts(env: NodeJS.ProcessEnv): { found: { name: string; path: string }[]; missing: { name: string }[] };
}>('./suites.mjs');

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'rookery-install-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function write(path: string, content: unknown): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), typeof content === 'string' ? content : JSON.stringify(content));
}

describe('packagesDifference', () => {
  const lock = (packages: Record<string, object>) => write('package-lock.json', { packages });
  const installed = (packages: Record<string, object>) => write('node_modules/.package-lock.json', { packages });

  it('is null where everything of the lock is installed', () => {
    lock({ '': {}, 'apps/web': {}, 'node_modules/a': { version: '1.0.0' }, 'node_modules/@r/web': { link: true } });
    installed({ 'node_modules/a': { version: '1.0.0' }, 'node_modules/@r/web': { link: true } });
    expect(packagesDifference(root)).toBeNull();
  });

  it('names what is missing or out of date', () => {
    lock({ 'node_modules/a': { version: '1.0.0' } });
    expect(packagesDifference(root)).toBe('not installed');
    installed({});
    expect(packagesDifference(root)).toBe('a is missing');
    installed({ 'node_modules/a': { version: '0.9.0' } });
    expect(packagesDifference(root)).toBe('a is out of date');
  });

  it('does not miss a package of another platform', () => {
    lock({ 'node_modules/@x/darwin': { version: '1.0.0', optional: true } });
    installed({});
    expect(packagesDifference(root)).toBeNull();
  });

  it('asks for a new installation under another Node', () => {
    lock({});
    installed({});
    write('node_modules/.rookery-abi.json', process.versions.modules === '1' ? '"2"' : '"1"');
    expect(packagesDifference(root)).toContain('another Node');
    write('node_modules/.rookery-abi.json', JSON.stringify(process.versions.modules));
    expect(packagesDifference(root)).toBeNull();
  });
});

it.each(['20.19.0', '20.20.2', '22.1.0', '24.0.0'])('accepts Node %s', (version) => {
  expect(() => checkNode(version)).not.toThrow();
});
it.each(['18.20.0', '20.18.9', '19.9.0'])('refuses Node %s with what to do', (version) => {
  expect(() => checkNode(version)).toThrow(expect.objectContaining({ advice: expect.stringContaining('newer Node') }));
});

describe('stampOf', () => {
  it('changes with a source and with nothing else', () => {
    write('src/a.ts', 'one');
    write('src/a.test.ts', 'one');
    write('src/dist/a.js', 'one');
    const before = stampOf(root, ['src']);
    write('src/a.test.ts', 'another');
    write('src/dist/a.js', 'another');
    expect(stampOf(root, ['src'])).toBe(before);
    utimesSync(join(root, 'src/a.ts'), 1, 1);
    const touched = stampOf(root, ['src']);
    expect(touched).not.toBe(before);
    write('src/b.ts', 'new');
    expect(stampOf(root, ['src'])).not.toBe(touched);
  });
});

describe('findParts', () => {
  it('finds programs on PATH, takes a named one first, and says what is missing', () => {
    write('bin/strace', '#!/bin/sh\n');
    utimesSync(join(root, 'bin/strace'), 1, 1);
    const none = findParts({ PATH: join(root, 'nothing') });
    expect(none.found).toEqual([]);
    expect(none.missing.map(({ name }) => name)).toEqual(['chromium', 'strace', 'bubblewrap', 'mount namespaces']);
    const named = findParts({ PATH: '', ROOKERY_TEST_CHROMIUM: join(root, 'bin/strace') });
    expect(named.found).toEqual([expect.objectContaining({ name: 'chromium', path: join(root, 'bin/strace') })]);
  });
});
