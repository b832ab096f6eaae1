// Writes what is derived from protocol/src; with --check it names the files that differ and ends with 1.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { permissionsPage } from './permissions-page.ts';
import { protocolPage } from './protocol-page.ts';
import { runtimeProtocol } from './runtime-protocol.ts';

/** Every generated file by its path from the root. */
export function generatedFiles(): Map<string, string> {
  return new Map([
    ['protocol/generated/runtime-protocol.json', runtimeProtocol()],
    ['docs/protocol.md', protocolPage()],
    ['docs/permissions.md', permissionsPage()],
  ]);
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/** Paths whose file is not there or differs. */
export function differingFiles(root: string, files: ReadonlyMap<string, string>): string[] {
  return [...files].filter(([path, text]) => read(join(root, path)) !== text).map(([path]) => path);
}

/** Writes the files that differ and returns their paths. */
export function writeFiles(root: string, files: ReadonlyMap<string, string>): string[] {
  const paths = differingFiles(root, files);
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), files.get(path) ?? '');
  }
  return paths;
}

function main(): void {
  const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
  const check = process.argv.includes('--check');
  const paths = check ? differingFiles(root, generatedFiles()) : writeFiles(root, generatedFiles());
  for (const path of paths)
    process.stdout.write(`${path} ${check ? 'is out of date; run npm run generate' : 'was written'}\n`);
  if (check && paths.length > 0) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
