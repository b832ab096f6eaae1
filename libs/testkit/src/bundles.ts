import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder of the checkout. */
export const checkout = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');

/** Folder of the bundles that ship, or of those with fault points. */
export function bundleFolder(faults: boolean): string {
  return join(checkout, faults ? 'dist-fault' : 'dist');
}

/**
 * Builds the bundles where a source changed since they were built, and gives their folder. `npm test` has built them
 * before; this is for a test file that is run alone.
 */
export async function ensureBundles(faults = false): Promise<string> {
  const folder = bundleFolder(faults);
  // Inside `npm test` all is built, and two workers would only build the same twice.
  if (process.env.ROOKERY_TEST_BUILT === '1' && existsSync(folder)) return folder;
  const script =
    `const build = await import(${JSON.stringify(join(checkout, 'infra/dev/build.mjs'))});` +
    `if (!build.bundlesAreFresh(${faults})) await build.buildBundles(${faults});`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const code = await new Promise<number | null>((done) => child.once('exit', done));
  if (code !== 0) throw new Error('the bundles could not be built');
  return folder;
}
