// What tests need beyond Node, and where it is on this machine.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

function onPath(names, env) {
  for (const name of names) {
    for (const folder of (env.PATH ?? '').split(delimiter)) {
      const path = join(folder, name);
      try {
        accessSync(path, constants.X_OK);
        return path;
      } catch {
        // Not in this folder.
      }
    }
  }
  return null;
}

/** Parts by the environment variable under which tests find them, with the suites that need them. */
const parts = [
  {
    name: 'chromium',
    variable: 'ROOKERY_TEST_CHROMIUM',
    programs: ['chromium', 'chromium-browser', 'google-chrome'],
    suites: ['tests/browser/**'],
    get: 'apt-get install chromium, or set ROOKERY_TEST_CHROMIUM to its path',
  },
  {
    name: 'strace',
    variable: 'ROOKERY_TEST_STRACE',
    programs: ['strace'],
    suites: ['tests/**/*.strace.test.ts'],
    get: 'apt-get install strace',
  },
  {
    name: 'bubblewrap',
    variable: 'ROOKERY_TEST_BWRAP',
    programs: ['bwrap'],
    suites: ['tests/**/*.bwrap.test.ts'],
    get: 'apt-get install bubblewrap',
  },
  {
    name: 'mount namespaces',
    variable: 'ROOKERY_TEST_UNSHARE',
    programs: ['unshare'],
    // A container often has the program and not the right.
    works: (path) => {
      const flags = process.getuid?.() === 0 ? '-m' : '-rm';
      return spawnSync(path, [flags, 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' }).status === 0;
    },
    suites: ['tests/**/*.tmpfs.nightly.test.ts'],
    get: 'a Linux that lets this user make a mount namespace',
  },
];

/** Splits the parts into those that are here (with their paths) and those that are missing. */
export function findParts(env = process.env) {
  const found = [];
  const missing = [];
  for (const part of parts) {
    const given = env[part.variable];
    const path = given ? (existsSync(given) ? given : null) : onPath(part.programs, env);
    if (path === null || part.works?.(path) === false) missing.push(part);
    else found.push({ ...part, path });
  }
  return { found, missing };
}
