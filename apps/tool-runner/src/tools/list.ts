import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { toolParameters } from '../definitions.ts';
import { requireFolder } from '../files/workspace-paths.ts';
import type { Arguments } from '../parameters.ts';
import { shownPath } from '../search/walk.ts';
import { systemCode, type ToolContext, ToolFailure, type ToolOutcome, throwIfCancelled } from '../tool-call.ts';

const MAX_ENTRIES = 1000;

/** Lists one folder: type, size in bytes, time of change and name of each entry, in the order of the names. */
export async function listTool(
  args: Arguments<typeof toolParameters.list>,
  context: ToolContext,
): Promise<ToolOutcome> {
  const path = await requireFolder(args.path ?? '.', context);
  const names = await readdir(path).catch((error: unknown) => {
    throw new ToolFailure('read_failed', `The folder cannot be read (${systemCode(error)}).`, error);
  });
  names.sort((a, b) => (a < b ? -1 : 1));
  const lines: string[] = [];
  for (const name of names.slice(0, MAX_ENTRIES)) {
    throwIfCancelled(context.signal);
    lines.push(await describeEntry(path, name));
  }
  const truncated = names.length > MAX_ENTRIES;
  if (truncated) lines.push(`(${names.length - MAX_ENTRIES} more entries are not shown)`);
  if (names.length === 0) lines.push('(empty folder)');
  return { ok: true, output: lines.join('\n'), details: { path, entries: names.length, truncated } };
}

async function describeEntry(folder: string, name: string): Promise<string> {
  const path = join(folder, name);
  const shown = shownPath(path, folder);
  // The entry may vanish between the list and the look.
  const entry = await lstat(path).catch(() => null);
  if (entry === null) return `unknown\t-\t-\t${shown}`;
  const type = entry.isSymbolicLink() ? 'link' : entry.isDirectory() ? 'folder' : entry.isFile() ? 'file' : 'other';
  const size = type === 'file' ? String(entry.size) : '-';
  return `${type}\t${size}\t${entry.mtime.toISOString()}\t${shown}`;
}
