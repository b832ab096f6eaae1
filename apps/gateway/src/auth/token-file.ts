import { chmod, mkdir, open, readFile, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export const tokenPath = (home: string): string => join(home, 'token');

/** The owner token of a home and when its file was written (milliseconds since 1970); null where there is none. */
export async function readTokenFile(home: string): Promise<{ token: string; writtenAt: number } | null> {
  const path = tokenPath(home);
  try {
    const { mode, mtimeMs } = await stat(path);
    if ((mode & 0o077) !== 0) await chmod(path, 0o600);
    const token = (await readFile(path, 'utf8')).trim();
    return token === '' ? null : { token, writtenAt: mtimeMs };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Replaces a file of the home whole and durably. */
export async function writeWhole(path: string, text: string, mode: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const part = `${path}.${process.pid}.part`;
  const file = await open(part, 'w', mode);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(part, path);
}

export function writeTokenFile(home: string, token: string): Promise<void> {
  return writeWhole(tokenPath(home), `${token}\n`, 0o600);
}
