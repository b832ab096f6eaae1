import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { formatVersion, locateServer } from '@rookery/nats';
import { limits } from '@rookery/protocol';
import { type Finding, reason } from './finding.ts';

const MIB = 1024 * 1024;
const SCARCE_MIB = 1024;

export async function checkNode(): Promise<Finding[]> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const name = 'Node.js';
  if (major > 20 || (major === 20 && minor >= 19)) return [{ name, state: 'ok', found: process.versions.node }];
  return [{ name, state: 'wrong', found: process.versions.node, todo: 'Install Node.js 20.19 or newer.' }];
}

/** The home, and whether its secrets are readable by their owner alone. */
export async function checkHome(home: string): Promise<Finding[]> {
  const name = 'home';
  try {
    await access(home, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const todo = missing ? 'Run `npm start` once, or set ROOKERY_HOME.' : 'Make the folder yours and writable.';
    return [{ name, state: 'wrong', found: missing ? `${home} does not exist` : `${home} is not writable`, todo }];
  }
  const findings: Finding[] = [{ name, state: 'ok', found: home }];
  for (const file of ['token', 'master.key']) {
    const path = join(home, file);
    const info = await stat(path).catch(() => null);
    if (info === null) {
      const elsewhere = file === 'master.key' && Boolean(process.env.ROOKERY_MASTER_KEY);
      if (!elsewhere)
        findings.push({ name: file, state: 'wrong', found: `${path} is missing`, todo: 'Run `npm start` once.' });
    } else if ((info.mode & 0o077) !== 0) {
      findings.push({ name: file, state: 'wrong', found: `${path} is readable by others`, todo: `chmod 600 ${path}` });
    }
  }
  return findings;
}

export async function checkDisk(home: string): Promise<Finding[]> {
  const info = await statfs(home).catch(() => null);
  if (info === null) return [];
  const free = Math.floor((info.bavail * info.bsize) / MIB);
  const found = `${free} MiB free`;
  const low = limits.storageLowMiB;
  if (free < low)
    return [{ name: 'disk', state: 'wrong', found, todo: `Free some: below ${low} MiB no new turn starts.` }];
  return [{ name: 'disk', state: free < SCARCE_MIB ? 'note' : 'ok', found }];
}

/** The program that `npm start` would run; an external server needs none here. */
export async function checkServerBinary(): Promise<Finding[]> {
  if (process.env.ROOKERY_NATS_URL) return [];
  const name = 'nats-server program';
  try {
    const { found, rejected } = await locateServer();
    if (found !== null) return [{ name, state: 'ok', found: `${formatVersion(found.version)} at ${found.path}` }];
    const old = rejected.map(({ path, reason: why }) => `${path}: ${why}`).join('; ');
    return [{ name, state: 'note', found: old || 'not here yet', todo: '`npm start` fetches it.' }];
  } catch (error) {
    return [{ name, state: 'wrong', found: reason(error), todo: 'Correct ROOKERY_NATS_SERVER or unset it.' }];
  }
}
