import { createHash } from 'node:crypto';
import { lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { type Bus, journalIdentity } from '@rookery/bus';
import { type SnapshotHead, snapshotStream } from '@rookery/journal';
import { AppError, BLOBS, buckets, JOURNAL, MEMORY } from '@rookery/protocol';
import { FORMAT, MANIFEST, type Manifest } from './manifest.ts';

export interface BackupOptions {
  bus: Bus;
  /** Folder to make; it may not exist. */
  folder: string;
  /** Version of the program. */
  version: string;
  now?: Date;
  onProgress?(text: string): void;
}

export interface BackupReport {
  folder: string;
  createdAt: string;
  journalId: string;
  bytes: number;
  /** Last sequence and number of messages of each stream. */
  streams: Record<string, { lastSeq: number; messages: number }>;
}

/** Attempts to find settings and secrets that belong together. */
const ATTEMPTS = 5;

/**
 * What a commit names was stored before it: so texts are copied behind the journal that names them, and memory behind the
 * turns that led to it. Who is alive right now (leases, presence) belongs to no backup.
 */
const CONTENT = [JOURNAL, MEMORY, `OBJ_${BLOBS}`];
const CONFIG = `KV_${buckets.config.name}`;
const SECRETS = [buckets.vault_provider, buckets.vault_channel, buckets.vault_tool, buckets.tokens].map(
  ({ name }) => `KV_${name}`,
);

/** A name that sorts by time: `rookery-20261130T120000Z`. */
export function backupName(now: Date): string {
  return `rookery-${now.toISOString().replace(/[-:]|\.\d+/g, '')}`;
}

async function copyStream(bus: Bus, stream: string, folder: string): Promise<Manifest['streams'][number]> {
  const file = `${stream}.snapshot`;
  const handle = await open(join(folder, file), 'w', 0o600);
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    const { config, state }: SnapshotHead = await snapshotStream(bus, stream, async (chunk) => {
      hash.update(chunk);
      bytes += chunk.length;
      await handle.write(chunk);
    });
    await handle.sync();
    return { name: stream, file, bytes, sha256: hash.digest('hex'), config, state };
  } finally {
    await handle.close();
  }
}

const lastSeqOf = async (bus: Bus, stream: string): Promise<number> =>
  (await bus.jsm.streams.info(stream)).state.last_seq;

/** Settings name secrets, and a secret is gone once no setting names it: they are copied at one revision of the settings. */
async function copySettings(bus: Bus, folder: string): Promise<Manifest['streams']> {
  for (let attempt = 1; ; attempt += 1) {
    const config = await copyStream(bus, CONFIG, folder);
    const secrets: Manifest['streams'] = [];
    for (const stream of SECRETS) secrets.push(await copyStream(bus, stream, folder));
    if ((await lastSeqOf(bus, CONFIG)) === config.state.last_seq || attempt === ATTEMPTS) return [config, ...secrets];
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Copies everything that NATS holds of a home into a new folder while the home runs. The folder appears whole or not at
 * all. BACKUP_EXISTS where it is there already, JOURNAL_UNAVAILABLE where the server cannot be copied, STORAGE_LOW.
 */
export async function backUp(options: BackupOptions): Promise<BackupReport> {
  const { bus, version, now = new Date(), onProgress = () => undefined } = options;
  const folder = resolve(options.folder);
  if (await lstat(folder).catch(() => null)) {
    throw new AppError('BACKUP_EXISTS', {
      message: `${folder} is there already; a backup never overwrites. Name a folder that does not exist.`,
      details: { folder },
    });
  }
  const parent = dirname(folder);
  const part = join(parent, `.${basename(folder)}.${process.pid}.part`);
  try {
    await mkdir(parent, { recursive: true });
    await mkdir(part, { mode: 0o700 });
    const { homeId, journalId } = await journalIdentity(bus);
    const streams: Manifest['streams'] = [];
    for (const stream of CONTENT) {
      onProgress(`copying ${stream}`);
      streams.push(await copyStream(bus, stream, part));
    }
    onProgress('copying settings and sealed secrets');
    streams.push(...(await copySettings(bus, part)));
    const createdAt = now.toISOString();
    const manifest: Manifest = { format: FORMAT, product: 'rookery', version, createdAt, homeId, journalId, streams };
    const file = await open(join(part, MANIFEST), 'wx', 0o600);
    try {
      await file.writeFile(`${JSON.stringify(manifest, null, 2)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await syncFolder(part);
    // Renaming onto an empty folder that came in between would replace it; onto any other it fails.
    await rename(part, folder);
    await syncFolder(parent);
    return {
      folder,
      createdAt,
      journalId,
      bytes: streams.reduce((sum, each) => sum + each.bytes, 0),
      streams: Object.fromEntries(
        streams.map(({ name, state }) => [name, { lastSeq: state.last_seq, messages: state.messages }]),
      ),
    };
  } catch (error) {
    // What cannot be removed was never made, or the disk says so itself.
    await rm(part, { recursive: true, force: true }).catch(() => undefined);
    throw diskError(error, folder);
  }
}

const UNWRITABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST', 'ENAMETOOLONG']);

function diskError(error: unknown, folder: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new AppError('STORAGE_LOW', { message: `There is no room for the backup at ${folder}.`, cause: error });
  }
  if (code !== undefined && UNWRITABLE.has(code)) {
    return new AppError('CONFIG_INVALID', {
      message: `The backup cannot be written at ${folder} (${code}). Choose a folder that can be written.`,
      details: { folder, code },
    });
  }
  return error;
}
