import { createReadStream } from 'node:fs';
import { access, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { provision, renewJournalId } from '@rookery/bus';
import { restoreStream } from '@rookery/journal';
import { edgeKeysOf } from '@rookery/nats';
import { AppError } from '@rookery/protocol';
import { type Manifest, readManifest } from './manifest.ts';
import { withOfflineServer } from './offline-server.ts';
import { removeReadModels } from './read-models.ts';

export interface RestoreOptions {
  /** Home that is stopped; whoever calls holds its lock. */
  home: string;
  /** Folder of the backup. */
  folder: string;
  /** The nats-server program. */
  binary: string;
  now?: Date;
  onProgress?(text: string): void;
}

export interface RestoreReport {
  folder: string;
  /** When the backup was made. */
  createdAt: string;
  /** New: clients load everything again and read models are built anew. */
  journalId: string;
  /** Where the store that was there before is now; null where there was none. */
  movedAside: string | null;
  streams: Record<string, { lastSeq: number; messages: number }>;
}

const CHUNK_BYTES = 128 * 1024;
const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

const paths = (home: string) => {
  const folder = join(home, 'nats');
  return {
    folder,
    store: join(folder, 'store'),
    made: join(folder, 'store.restoring'),
    record: join(folder, 'restore.json'),
  };
};

async function* chunksOf(path: string): AsyncGenerator<Uint8Array> {
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) yield chunk as Buffer;
}

/** The server that made the files has not synced them one by one. */
async function syncTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await syncTree(path);
    else if (entry.isFile()) await syncOne(path);
  }
  await syncOne(folder);
}

async function syncOne(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Puts a finished restore in the place of the store that was there, which is moved aside; also one that was cut off between
 * the two. Gives the folder of the old store, null where there was none or nothing to do. Call it before a server starts.
 */
export async function finishRestore(home: string): Promise<string | null> {
  const { folder, store, made, record } = paths(home);
  const text = await readFile(record, 'utf8').catch(() => null);
  if (text === null) return null;
  const { aside } = JSON.parse(text) as { aside: string };
  const old = join(folder, aside);
  if (await exists(made)) {
    if (await exists(store)) await rename(store, old);
    await rename(made, store);
  }
  await syncOne(folder);
  await removeReadModels(home);
  await rm(record, { force: true });
  return (await exists(old)) ? old : null;
}

/**
 * Builds a store from a backup beside the one of the home, then puts it in its place: a restore that is cut off leaves the
 * home as it was. BACKUP_INVALID where the backup is not whole, JOURNAL_UNAVAILABLE where the server refuses it.
 */
export async function restore(options: RestoreOptions): Promise<RestoreReport> {
  const { home, binary, now = new Date(), onProgress = () => undefined } = options;
  const folder = resolve(options.folder);
  onProgress('comparing the backup with its manifest');
  const manifest: Manifest = await readManifest(folder);
  await finishRestore(home);
  const { folder: nats, store, made, record } = paths(home);
  await mkdir(nats, { recursive: true, mode: 0o700 });
  await rm(made, { recursive: true, force: true });
  const streams: RestoreReport['streams'] = {};
  let journalId = '';
  try {
    await withOfflineServer({ home, binary, store: made }, async (bus) => {
      for (const { name, file, config, state } of manifest.streams) {
        onProgress(`restoring ${name}`);
        const restored = await restoreStream(bus, { config, state }, chunksOf(join(folder, file)));
        if (restored.lastSeq !== state.last_seq || restored.messages !== state.messages) {
          throw new AppError('BACKUP_INVALID', {
            message: `${name} came back with ${restored.messages} messages up to ${restored.lastSeq} instead of ${state.messages} up to ${state.last_seq}.`,
            details: { stream: name },
          });
        }
        streams[name] = restored;
      }
      journalId = await renewJournalId(bus);
      await provision(bus, { edgeKeys: await edgeKeysOf(home) });
    });
    await syncTree(made);
  } catch (error) {
    await rm(made, { recursive: true, force: true });
    throw error;
  }
  const aside = `store.before-${now.toISOString().replace(/[-:]|\.\d+/g, '')}`;
  await writeFile(record, `${JSON.stringify({ aside })}\n`, { mode: 0o600, flush: true });
  await syncOne(nats);
  onProgress((await exists(store)) ? `moving the old store to ${join(nats, aside)}` : 'putting the store in its place');
  const movedAside = await finishRestore(home);
  return { folder, createdAt: manifest.createdAt, journalId, movedAside, streams };
}
