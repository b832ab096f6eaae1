import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const IMPORT =
  /^\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]|^\s*import\s*['"]([^'"]+)['"]|\b(?:import|require)\(\s*['"]([^'"]+)['"]/gm;

/** What a clock, chance or the outside world would be reached by without an import. */
const IMPURE =
  /\b(Date\.now|new Date\(\)|Math\.random|performance\.|crypto\.|process\.(?:env|pid|cwd|argv|exit|hrtime|uptime|platform)|globalThis|fetch\(|setTimeout|setInterval|queueMicrotask)/;

interface Reached {
  files: string[];
  packages: string[];
  impure: string[];
}

/** Follows the imports of a file through all files of ours. */
function reach(entry: URL): Reached {
  const files = new Set<string>();
  const packages = new Set<string>();
  const impure: string[] = [];
  const walk = (file: URL): void => {
    if (files.has(file.href)) return;
    files.add(file.href);
    const code = readFileSync(fileURLToPath(file), 'utf8')
      .replace(/\/\*[\s\S]*?\*\//g, '')
      .replace(/^\s*\/\/.*$/gm, '');
    const found = IMPURE.exec(code)?.[0];
    if (found !== undefined) impure.push(`${file.pathname}: ${found}`);
    for (const [, from, bare, called] of code.matchAll(IMPORT)) {
      const specifier = from ?? bare ?? called ?? '';
      if (specifier.startsWith('.')) walk(new URL(specifier, file));
      else packages.add(specifier);
    }
  };
  walk(entry);
  return { files: [...files], packages: [...packages].sort(), impure };
}

describe('the kernel', () => {
  const kernel = reach(new URL('./index.ts', import.meta.url));

  it('is walked whole', () => {
    expect(kernel.files.length).toBeGreaterThan(25);
    expect(kernel.files.some((file) => file.endsWith('/run/loop.ts'))).toBe(true);
    expect(kernel.files.some((file) => /\.test\.ts$|\/testing\//.test(file))).toBe(false);
  });

  it('reaches nothing but protocol', () => {
    expect(kernel.packages).toEqual(['@rookery/protocol']);
  });

  it('has no clock, no chance and no world of its own', () => {
    expect(kernel.impure).toEqual([]);
  });

  it('stands on a protocol that reaches zod and hashes only', () => {
    const protocol = reach(new URL(import.meta.resolve('@rookery/protocol')));
    expect(protocol.files.length).toBeGreaterThan(10);
    expect(protocol.packages).toEqual([
      '@noble/hashes/legacy.js',
      '@noble/hashes/sha2.js',
      '@noble/hashes/utils.js',
      'zod',
    ]);
    expect(protocol.impure).toEqual([]);
  });
});
