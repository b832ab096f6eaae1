// Plain JavaScript: this runs before any package is installed.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, tail } from './run.mjs';
import { StepError } from './steps.mjs';

/** Refuses a Node that the packages do not run on. */
export function checkNode(version = process.versions.node) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  throw new StepError(`This is Node ${version}; Rookery needs 20.19 or newer.`, 'Install a newer Node and try again.');
}

const readJson = (path) => {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
};

/** What is missing or other than in package-lock.json, or null where everything is installed. */
export function packagesDifference(root) {
  const wanted = readJson(join(root, 'package-lock.json'));
  if (wanted === null) return 'package-lock.json cannot be read';
  const installed = readJson(join(root, 'node_modules', '.package-lock.json'));
  if (installed === null) return 'not installed';
  for (const [path, entry] of Object.entries(wanted.packages)) {
    // Workspaces are links into this tree; a package for another platform is not there.
    if (!path.startsWith('node_modules/') && !path.includes('/node_modules/')) continue;
    const have = installed.packages[path];
    if (have === undefined) {
      if (entry.optional || entry.peer || entry.devOptional) continue;
      return `${path.replace(/^.*node_modules\//, '')} is missing`;
    }
    if (have.version !== entry.version || have.link !== entry.link) {
      return `${path.replace(/^.*node_modules\//, '')} is out of date`;
    }
  }
  const abi = readJson(join(root, 'node_modules', '.rookery-abi.json'));
  if (abi !== null && abi !== process.versions.modules) return 'they were built for another Node';
  return null;
}

/** Installs the packages by `npm ci` where they are missing or out of date; says what it did. */
export async function ensurePackages(root, say = () => {}) {
  const difference = packagesDifference(root);
  const stamp = join(root, 'node_modules', '.rookery-abi.json');
  if (difference !== null) {
    say(`npm ci (${difference})`);
    const npm = process.env.npm_execpath;
    const args = ['ci', '--include=dev', '--no-audit', '--no-fund'];
    const { code, output } = npm?.endsWith('.js')
      ? await run(process.execPath, [npm, ...args], { cwd: root })
      : await run('npm', args, { cwd: root });
    if (code !== 0) {
      throw new StepError(
        `npm ci failed:\n${tail(output)}`,
        'Check that the npm registry can be reached. Where no prebuilt better-sqlite3 can be fetched, it is compiled: ' +
          'that needs python3, make and a C++ compiler (on Debian: apt-get install python3 make g++).',
      );
    }
  }
  if (difference !== null || !existsSync(stamp)) writeFileSync(stamp, JSON.stringify(process.versions.modules));
  return difference === null ? 'up to date' : 'installed';
}
