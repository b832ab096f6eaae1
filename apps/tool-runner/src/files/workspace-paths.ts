import { stat } from 'node:fs/promises';
import { resolvePath } from '@rookery/sandbox';
import { systemCode, type ToolContext, ToolFailure } from '../tool-call.ts';

/** Resolves a path argument of a tool. Fails with invalid_workspace or invalid_path. */
export async function toolPath(path: string, context: ToolContext): Promise<string> {
  await requireWorkspace(context);
  const resolution = await resolvePath(path, context);
  if (!resolution.ok) throw new ToolFailure(resolution.code, `Cannot use this path: ${resolution.reason}.`);
  return resolution.path;
}

async function requireWorkspace(context: ToolContext): Promise<void> {
  const kind = await pathKind(context.workspaceRoot, 'invalid_workspace');
  if (kind !== 'folder') throw new ToolFailure('invalid_workspace', 'The workspace folder does not exist any more.');
}

/** What stands at a path. Whatever the system answers but "not there" fails with the given code. */
export async function pathKind(path: string, errorCode: string): Promise<'file' | 'folder' | 'other' | 'missing'> {
  try {
    const entry = await stat(path);
    if (entry.isDirectory()) return 'folder';
    return entry.isFile() ? 'file' : 'other';
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'missing';
    throw new ToolFailure(errorCode, `The path cannot be looked at (${code}).`, error);
  }
}

/** Fails unless a regular file is there: file_not_found, path_is_directory, not_regular_file, or the given code. */
export async function requireFile(path: string, errorCode: string): Promise<void> {
  const kind = await pathKind(path, errorCode);
  if (kind === 'missing') throw new ToolFailure('file_not_found', `There is no file ${path}.`);
  if (kind === 'folder') throw new ToolFailure('path_is_directory', `${path} is a folder.`);
  if (kind === 'other') throw new ToolFailure('not_regular_file', `${path} is not a regular file.`);
}

/** Resolves a path that must be a folder: invalid_path, file_not_found or not_a_directory otherwise. */
export async function requireFolder(path: string, context: ToolContext): Promise<string> {
  const resolved = await toolPath(path, context);
  const kind = await pathKind(resolved, 'read_failed');
  if (kind === 'missing') throw new ToolFailure('file_not_found', `There is no folder ${resolved}.`);
  if (kind !== 'folder') throw new ToolFailure('not_a_directory', `${resolved} is not a folder.`);
  return resolved;
}
