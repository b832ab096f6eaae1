import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { throwIfCancelled } from '../tool-call.ts';

/** Longest time that one search may take, in milliseconds; then it answers with what it has. */
export const SEARCH_MS = 30_000;

const LEFT_OUT: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/**
 * Every file under a folder as a path relative to it, level by level, each folder in the order of its names (by code
 * unit). Leaves out .git and node_modules; follows links to files and none to folders; passes over what it may not read.
 */
export async function* walkFiles(root: string, signal: AbortSignal): AsyncGenerator<string> {
  let level = [''];
  while (level.length > 0) {
    const below: string[] = [];
    for (const folder of level) {
      throwIfCancelled(signal);
      for (const entry of await entriesOf(join(root, folder))) {
        if (LEFT_OUT.has(entry.name)) continue;
        const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
        if (entry.isDirectory()) below.push(path);
        else if (await isFile(entry, join(root, path))) yield path;
      }
    }
    level = below;
  }
}

/** Files in lists of at most `size`, in their order. */
export async function* batchesOf(
  files: AsyncIterable<string> | Iterable<string>,
  size: number,
): AsyncGenerator<string[]> {
  let batch: string[] = [];
  for await (const file of files) {
    batch.push(file);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}

async function isFile(entry: Dirent, path: string): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isFile();
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** How a found path is shown: relative to the workspace where it lies inside, on one line whatever its name. */
export function shownPath(path: string, workspaceRoot: string): string {
  const inside = relative(workspaceRoot, path);
  const shown = inside === '' ? '.' : inside === '..' || inside.startsWith(`..${sep}`) ? path : inside;
  return /\p{Cc}/u.test(shown) ? JSON.stringify(shown) : shown;
}
