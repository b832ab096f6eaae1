// Plain JavaScript: this runs before any package is installed.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const skipped = new Set(['node_modules', 'dist', 'dist-fault', '.git', 'coverage']);

function walk(path, visit) {
  let entry;
  try {
    entry = statSync(path);
  } catch {
    return;
  }
  if (entry.isFile()) visit(path, entry);
  if (!entry.isDirectory()) return;
  for (const name of readdirSync(path).sort()) {
    if (!skipped.has(name) && !name.endsWith('.test.ts') && !name.endsWith('.test.tsx')) walk(join(path, name), visit);
  }
}

/** A stamp over paths, sizes and change times: it changes whenever a source may have changed. */
export function stampOf(root, paths) {
  const hash = createHash('sha256').update(process.versions.modules);
  for (const path of paths) {
    walk(join(root, path), (file, { size, mtimeMs }) => hash.update(`${file}\0${size}\0${mtimeMs}\n`));
  }
  return hash.digest('hex');
}

export function readStamp(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

export function writeStamp(file, stamp) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, stamp);
}
