import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** SHA-256 of bytes, 64 hex digits. */
export function sha256Bytes(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** What is done between the checked temporary file and the rename; it may throw to keep the old file. */
export type BeforeRename = () => Promise<void>;

/**
 * Puts bytes in the place of a file so that a reader sees the old or the new one and never a part: a temporary file in
 * the same folder, fsync, a check of what was written, rename, fsync of the folder. Mode and owner of the old file stay.
 */
export async function writeAtomically(path: string, bytes: Uint8Array, beforeRename?: BeforeRename): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path).slice(0, 64)}.${randomUUID()}.tmp`);
  const previous = await stat(path).catch(() => null);
  try {
    // Nobody but the owner reads it before it has the mode of the old file; a new file gets the usual one at once.
    const file = await open(temporary, 'wx', previous === null ? 0o666 : 0o600);
    try {
      await file.writeFile(bytes);
      if (previous !== null) await keepOwnerAndMode(file, previous);
      await file.sync();
    } finally {
      await file.close();
    }
    if (sha256Bytes(await readFile(temporary)) !== sha256Bytes(bytes)) {
      throw new Error('the written bytes differ from what was to be written');
    }
    await beforeRename?.();
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

async function keepOwnerAndMode(file: FileHandle, previous: { mode: number; uid: number; gid: number }): Promise<void> {
  // Only root may give a file away; for others the new file is theirs, as with any editor that renames.
  await file.chown(previous.uid, previous.gid).catch(() => undefined);
  // In another group what the old group was allowed is nobody's; the same for the special bits of another owner.
  const now = await file.stat();
  const sameGroup = now.gid === previous.gid;
  const kept = (sameGroup ? 0o777 : 0o707) | (sameGroup && now.uid === previous.uid ? 0o7000 : 0);
  await file.chmod(previous.mode & kept);
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
