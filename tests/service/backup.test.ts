import { copyFile, cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { acceptLoss, backUp, finishRestore, keepNewest, restore, withOfflineServer } from '@rookery/backup';
import { type Bus, connectBus, journalIdentity, openBlobs, openBucket } from '@rookery/bus';
import { openJournal } from '@rookery/journal';
import { ensureKeys, natsUsers, obtainServer } from '@rookery/nats';
import { AppError, JOURNAL } from '@rookery/protocol';
import {
  commitOf,
  type RawMessage,
  readStream,
  startNats,
  type TemporaryFolder,
  type TestNats,
  temporaryFolder,
} from '@rookery/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

/** Everything is done on real streams: a copy is compared message by message with plain client calls. */

const STREAMS = [JOURNAL, 'MEMORY', 'OBJ_BLOBS', 'KV_config', 'KV_vault_provider', 'KV_tokens'];
const codeOf = async (work: Promise<unknown>): Promise<string> =>
  await work.then(
    () => 'no error',
    (error: unknown) => (error instanceof AppError ? error.code : String(error)),
  );

let nats: TestNats;
let binary: string;
let folder: TemporaryFolder;
let buses: Bus[] = [];

async function connect(user: string): Promise<Bus> {
  const bus = await connectBus({ url: nats.url, user, seed: nats.seed(user), name: 'test' });
  buses.push(bus);
  return bus;
}

/** Appends commits behind the last one of a subject. */
async function write(bus: Bus, subject: string, from: number, count: number): Promise<void> {
  const journal = openJournal(bus);
  let expected = (await journal.readLast(subject))?.streamSeq ?? 0;
  for (let n = from; n < from + count; n += 1) {
    const result = await journal.append({ subject, expected, commit: commitOf(subject, `c${n}`) });
    if (result.outcome !== 'committed') throw new Error('a conflict');
    expected = result.streamSeq;
  }
}

beforeAll(async () => {
  binary = (await obtainServer()).path;
  nats = await startNats();
  const agent = await connect('agent');
  const gateway = await connect('gateway');
  await write(agent, 'journal.home.thread.a.turns', 0, 300);
  await openBlobs(agent).put('a', 'a long text '.repeat(40_000));
  await (await openBucket(gateway, 'config')).put('providers', '{"providers":{}}');
  await (await openBucket(gateway, 'vault_provider')).put('deepseek', '{"v":1,"revision":1,"fields":{}}');
  await (await openBucket(gateway, 'tokens')).put('owner', '{"hash":"x","at":1}');
});

afterAll(async () => {
  for (const bus of buses) await bus.close();
  buses = [];
  await nats.stop();
});

beforeEach(async () => {
  folder = await temporaryFolder('backup');
});

afterEach(() => folder.remove());

/** What a store holds that no server runs on. */
async function contentsOf(home: string): Promise<Record<string, RawMessage[]>> {
  const store = join(home, 'nats', 'store');
  return await withOfflineServer({ home, binary, store }, async (bus) => {
    const seed = (await readFile(join(home, 'nats/keys/provision.nk'), 'utf8')).trim();
    const server = { url: `nats://${bus.nc.getServer()}`, seed: () => seed };
    const out: Record<string, RawMessage[]> = {};
    for (const stream of STREAMS) out[stream] = await readStream(server, stream);
    return out;
  });
}

const upTo = (messages: readonly RawMessage[], lastSeq: number) =>
  messages.filter(({ streamSeq }) => streamSeq <= lastSeq);

describe('a backup', () => {
  it('made while commits are written comes back message by message in an empty home, with a new journal id', async () => {
    const agent = await connect('agent');
    const path = join(folder.path, 'copy');
    const writing = write(agent, 'journal.home.thread.b.turns', 0, 400);
    const report = await backUp({ bus: await connect('provision'), folder: path, version: 'test' });
    await writing;
    const home = join(folder.path, 'home');
    await mkdir(home);
    const restored = await restore({ home, folder: path, binary });
    expect(restored).toMatchObject({ movedAside: null, streams: report.streams });
    expect(restored.journalId).not.toBe(nats.journalId);
    const found = await contentsOf(home);
    for (const stream of STREAMS) {
      const { lastSeq = 0 } = report.streams[stream] ?? {};
      const original = upTo(await readStream(nats, stream), lastSeq);
      expect(original.length).toBeGreaterThan(stream === 'MEMORY' ? -1 : 0);
      // `provision` of the new home adds the public keys of its own edges.
      const own = stream === 'KV_config' ? upTo(found[stream] ?? [], lastSeq) : found[stream];
      expect(own).toEqual(original.filter((message) => own?.some(({ streamSeq }) => streamSeq === message.streamSeq)));
      expect(own?.at(-1)?.streamSeq ?? 0).toBe(stream === 'KV_config' ? (own?.at(-1)?.streamSeq ?? 0) : lastSeq);
    }
    expect(report.streams[JOURNAL]?.lastSeq).toBeGreaterThanOrEqual(300);
    expect(JSON.parse(await readFile(join(path, 'manifest.json'), 'utf8'))).toMatchObject({
      homeId: nats.homeId,
      journalId: nats.journalId,
    });
  });

  it('goes on behind its last sequence after a restore, under the same home id', async () => {
    const path = join(folder.path, 'copy');
    const report = await backUp({ bus: await connect('provision'), folder: path, version: 'test' });
    const home = join(folder.path, 'home');
    await mkdir(home);
    await restore({ home, folder: path, binary });
    const { lastSeq = 0 } = report.streams[JOURNAL] ?? {};
    await withOfflineServer({ home, binary, store: join(home, 'nats/store') }, async (bus) => {
      expect((await journalIdentity(bus)).homeId).toBe(nats.homeId);
      const { seq } = await bus.js.publish('journal.canary', 'foreign').catch(() => ({ seq: 0 }));
      // The user `provision` may not write there: the next sequence is seen from the state.
      expect(seq).toBe(0);
      expect((await bus.jsm.streams.info(JOURNAL)).state.last_seq).toBe(lastSeq);
      expect((await bus.jsm.consumers.info(JOURNAL, 'agent-runs')).config.durable_name).toBe('agent-runs');
    });
  });

  it('overwrites nothing and leaves nothing half made', async () => {
    const path = join(folder.path, 'copy');
    const bus = await connect('provision');
    await mkdir(path);
    expect(await codeOf(backUp({ bus, folder: path, version: 'test' }))).toBe('BACKUP_EXISTS');
    const file = join(folder.path, 'file');
    await writeFile(file, '');
    expect(await codeOf(backUp({ bus, folder: join(file, 'copy'), version: 'test' }))).toBe('CONFIG_INVALID');
    // A user without the right is refused while the copy is under way.
    const gateway = await connect('gateway');
    expect(await codeOf(backUp({ bus: gateway, folder: join(folder.path, 'other'), version: 'test' }))).toBe(
      'PERMISSION_VIOLATION',
    );
    expect((await readdir(folder.path)).sort()).toEqual(['copy', 'file']);
  });

  it('that is not whole is refused, and the home stays as it is', async () => {
    const path = join(folder.path, 'copy');
    await backUp({ bus: await connect('provision'), folder: path, version: 'test' });
    const home = join(folder.path, 'home');
    await mkdir(join(home, 'nats/store'), { recursive: true });
    await writeFile(join(home, 'nats/store/mine'), 'mine');
    const damaged = async (change: (folder: string) => Promise<void>): Promise<string> => {
      const copy = join(folder.path, 'damaged');
      await rm(copy, { recursive: true, force: true });
      await cp(path, copy, { recursive: true });
      await change(copy);
      return await codeOf(restore({ home, folder: copy, binary }));
    };
    const journal = 'JOURNAL.snapshot';
    expect(await damaged((copy) => rm(join(copy, 'manifest.json')))).toBe('BACKUP_INVALID');
    expect(await damaged((copy) => rm(join(copy, journal)))).toBe('BACKUP_INVALID');
    expect(
      await damaged(async (copy) => {
        const bytes = await readFile(join(copy, journal));
        bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
        await writeFile(join(copy, journal), bytes);
      }),
    ).toBe('BACKUP_INVALID');
    expect(
      await damaged(async (copy) => {
        const manifest = JSON.parse(await readFile(join(copy, 'manifest.json'), 'utf8'));
        await writeFile(join(copy, 'manifest.json'), JSON.stringify({ ...manifest, format: 2 }));
      }),
    ).toBe('BACKUP_INVALID');
    // Digests that fit, and streams that the server does not take: the copy of one stream under another's settings.
    expect(
      await damaged(async (copy) => {
        const manifest = JSON.parse(await readFile(join(copy, 'manifest.json'), 'utf8'));
        const [first, second] = manifest.streams;
        await copyFile(join(copy, second.file), join(copy, first.file));
        Object.assign(first, { bytes: second.bytes, sha256: second.sha256 });
        await writeFile(join(copy, 'manifest.json'), JSON.stringify(manifest));
      }),
    ).toMatch(/JOURNAL_UNAVAILABLE|BACKUP_INVALID/);
    expect(await readdir(join(home, 'nats/store'))).toEqual(['mine']);
    expect((await readdir(join(home, 'nats'))).filter((name) => name.startsWith('store.'))).toEqual([]);
  });
});

describe('a restore', () => {
  it('moves the store that was there aside, and is ended by the next start where it was cut off', async () => {
    const path = join(folder.path, 'copy');
    await backUp({ bus: await connect('provision'), folder: path, version: 'test' });
    const home = join(folder.path, 'home');
    await mkdir(join(home, 'nats/store'), { recursive: true });
    await writeFile(join(home, 'nats/store/mine'), 'mine');
    const files = ['gateway/0/state.db', 'agent/0/agent.3.db', 'agent/0/agent.db.current', 'tool-runner/0/receipts.db'];
    for (const file of files) {
      await mkdir(join(home, file, '..'), { recursive: true });
      await writeFile(join(home, file), '');
    }
    const { movedAside } = await restore({ home, folder: path, binary, now: new Date('2026-11-30T12:00:00Z') });
    expect(movedAside).toBe(join(home, 'nats/store.before-20261130T120000Z'));
    expect(await readdir(movedAside ?? '')).toEqual(['mine']);
    // What was built from the journal before is gone; what no journal can give back is not.
    for (const folder of ['gateway/0', 'agent/0']) expect(await readdir(join(home, folder))).toEqual([]);
    expect(await readdir(join(home, 'tool-runner/0'))).toEqual(['receipts.db']);

    // Each point at which a kill can come between the two renames.
    const natsFolder = join(home, 'nats');
    const record = JSON.stringify({ aside: 'store.old' });
    await rename(join(natsFolder, 'store'), join(natsFolder, 'store.restoring'));
    await mkdir(join(natsFolder, 'store'));
    await writeFile(join(natsFolder, 'restore.json'), record);
    expect(await finishRestore(home)).toBe(join(natsFolder, 'store.old'));
    await rename(join(natsFolder, 'store'), join(natsFolder, 'store.restoring'));
    await writeFile(join(natsFolder, 'restore.json'), record);
    expect(await finishRestore(home)).toBe(join(natsFolder, 'store.old'));
    await writeFile(join(natsFolder, 'restore.json'), record);
    await finishRestore(home);
    expect(await finishRestore(home)).toBe(null);
    expect((await contentsOf(home))[JOURNAL]?.length).toBeGreaterThanOrEqual(300);
    expect((await readdir(natsFolder)).includes('restore.json')).toBe(false);
  });
});

describe('a loss', () => {
  it('is accepted only at the sequence at which the journal ends, and offers go on from there', async () => {
    const home = join(folder.path, 'home');
    const path = join(folder.path, 'copy');
    await mkdir(home);
    await ensureKeys(home, natsUsers);
    await backUp({ bus: await connect('provision'), folder: path, version: 'test' });
    const { journalId, streams } = await restore({ home, folder: path, binary });
    const { lastSeq = 0 } = streams[JOURNAL] ?? {};
    await withOfflineServer({ home, binary, store: join(home, 'nats/store') }, async (bus) => {
      const consumer = await bus.jsm.consumers.info(JOURNAL, 'agent-runs');
      expect(await codeOf(acceptLoss(bus, home, lastSeq + 1))).toBe('INVALID_PARAMS');
      expect(await codeOf(acceptLoss(bus, home, lastSeq - 1))).toBe('INVALID_PARAMS');
      expect((await journalIdentity(bus)).journalId).toBe(journalId);
      const report = await acceptLoss(bus, home, lastSeq);
      expect(report.lastSeq[JOURNAL]).toBe(lastSeq);
      expect((await journalIdentity(bus)).journalId).toBe(report.journalId);
      expect(report.journalId).not.toBe(journalId);
      expect((await bus.jsm.consumers.info(JOURNAL, 'agent-runs')).created).not.toBe(consumer.created);
    });
  });
});

describe('copies that are kept', () => {
  it('are the newest whole ones; what has another name or no manifest is left alone', async () => {
    const made = async (name: string, createdAt: string | null) => {
      await mkdir(join(folder.path, name));
      if (createdAt !== null) await writeFile(join(folder.path, name, 'manifest.json'), JSON.stringify({ createdAt }));
    };
    await made('rookery-20261127T120000Z', '2026-11-27T12:00:00.000Z');
    await made('rookery-20261128T120000Z', '2026-11-28T12:00:00.000Z');
    await made('rookery-20261129T120000Z', null);
    await made('rookery-20261130T120000Z', '2026-11-30T12:00:00.000Z');
    await made('rookery-mine', '2020-01-01T00:00:00.000Z');
    expect(await keepNewest(folder.path, 2)).toEqual([join(folder.path, 'rookery-20261127T120000Z')]);
    expect(await keepNewest(folder.path, 2)).toEqual([]);
    expect((await stat(join(folder.path, 'rookery-mine'))).isDirectory()).toBe(true);
    expect((await readdir(folder.path)).sort()).toEqual([
      'rookery-20261128T120000Z',
      'rookery-20261129T120000Z',
      'rookery-20261130T120000Z',
      'rookery-mine',
    ]);
  });
});
