import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { homeFolder, readToken } from './home.ts';
import { rpcCall } from './rpc-call.ts';

/** `rookery token rotate`. The new token goes into the home's file and is not printed. */
export async function tokenRotate(): Promise<number> {
  const { token } = await rpcCall<{ token: string }>('token.rotate');
  const path = join(homeFolder(), 'token');
  // The gateway writes the file of its own home; a home that only this machine sees is kept in step here.
  if ((await readToken(homeFolder())) !== token) {
    const part = `${path}.${process.pid}.part`;
    await writeFile(part, `${token}\n`, { mode: 0o600 });
    await rename(part, path);
  }
  process.stdout.write(
    `A new token is in ${path}. Everything that used the old one is signed out; \`rookery open\` signs in again.\n`,
  );
  return 0;
}
