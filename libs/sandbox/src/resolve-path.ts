import { lstat, readlink } from 'node:fs/promises';
import { isAbsolute, join, sep } from 'node:path';

/** Longest path text a caller may give, in characters. */
export const MAX_PATH_CHARACTERS = 4096;

/** The kernel's own bound on symbolic links met while one path is resolved. */
const MAX_LINKS = 40;

/** Where relative paths and `~` lead. Both are absolute folders. */
export interface PathBase {
  readonly workspaceRoot: string;
  readonly userHome: string;
}

/** Outcome of resolving a path text: the absolute target, or why the text is refused. */
export type PathResolution =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly code: 'invalid_path' | 'invalid_workspace'; readonly reason: string };

/**
 * Resolves a path text to the absolute path that the kernel would open: `~` expanded, relative to the workspace, every
 * symbolic link followed, also where the last parts do not exist yet. Refuses with `invalid_path` or `invalid_workspace`.
 */
export async function resolvePath(text: string, base: PathBase): Promise<PathResolution> {
  const refusal = refusePathText(text);
  if (refusal !== null) return { ok: false, code: 'invalid_path', reason: refusal };
  if (!isAbsolute(base.workspaceRoot)) {
    return { ok: false, code: 'invalid_workspace', reason: 'the workspace is not an absolute folder' };
  }
  const expanded = expandHome(text, base.userHome);
  const absolute = isAbsolute(expanded) ? expanded : `${base.workspaceRoot}${sep}${expanded}`;
  try {
    return { ok: true, path: await followLinks(absolute) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return { ok: false, code: 'invalid_path', reason: `the path cannot be resolved (${code})` };
  }
}

/** Says why a path text is refused before the disk is looked at, or null if it is not. */
export function refusePathText(text: string): string | null {
  if (text.length === 0) return 'the path is empty';
  if ([...text].length > MAX_PATH_CHARACTERS) return `the path has more than ${MAX_PATH_CHARACTERS} characters`;
  if (text.includes('\0')) return 'the path holds a NUL character';
  return null;
}

function expandHome(text: string, userHome: string): string {
  if (text === '~') return userHome;
  return text.startsWith('~/') ? join(userHome, text.slice(2)) : text;
}

/**
 * Walks the parts as the kernel does, so that `link/..` means the parent of the link's target and not of the link.
 * NOTE: what follows a missing part is taken by its text: nothing is there that could be a link.
 */
async function followLinks(absolute: string): Promise<string> {
  const pending = absolute.split(sep).filter(isNamed).reverse();
  let resolved: string = sep;
  let links = 0;
  let missing = false;
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (part === '..') {
      resolved = join(resolved, '..');
      // Back above the missing part the disk has to be asked again.
      missing = false;
      continue;
    }
    const next = join(resolved, part);
    const target = missing ? null : await linkTarget(next);
    if (target === null) {
      resolved = next;
      continue;
    }
    if (target === 'missing') {
      missing = true;
      resolved = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) throw Object.assign(new Error('too many symbolic links'), { code: 'ELOOP' });
    if (isAbsolute(target.text)) resolved = sep;
    pending.push(...target.text.split(sep).filter(isNamed).reverse());
  }
  return resolved;
}

async function linkTarget(path: string): Promise<{ readonly text: string } | 'missing' | null> {
  try {
    if (!(await lstat(path)).isSymbolicLink()) return null;
    return { text: await readlink(path) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'missing';
    throw error;
  }
}

function isNamed(part: string): boolean {
  return part !== '' && part !== '.';
}
