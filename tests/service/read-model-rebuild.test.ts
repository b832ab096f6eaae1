import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Bus, connectBus } from '@rookery/bus';
import { type Journal, openJournal } from '@rookery/journal';
import { type ConversationTables, conversationProjection } from '@rookery/kernel';
import { JOURNAL, type StoredCommit } from '@rookery/protocol';
import { currentFile, digest, openDatabase, openReadModel, type ReadModel } from '@rookery/read-model';
import {
  commitOf,
  eventually,
  sampleConversation,
  seededRandom,
  sleep,
  startNats,
  type TestNats,
  tcpProxy,
  temporaryFolder,
  testTimings,
} from '@rookery/testkit';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

type Model = ReadModel<ConversationTables>;

const root = fileURLToPath(new URL('../..', import.meta.url));
const bundles = join(root, 'node_modules', '.cache', `read-model-rebuild-${process.pid}`);
const workerEntry = join(bundles, 'projector-worker.mjs');
const cleanups: (() => Promise<unknown>)[] = [];
const sample = sampleConversation({ threads: 6, turns: 3 });
const CANARY = 'journal.canary';

let nats: TestNats;
let writer: Bus;
let journal: Journal;
let runnerJournal: Journal;
let dir: string;

beforeAll(async () => {
  await build({
    absWorkingDir: root,
    entryPoints: {
      'projector-worker': 'libs/read-model/src/projector-worker.ts',
      child: 'tests/service/testing/read-model-child.ts',
    },
    outdir: bundles,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    external: ['better-sqlite3'],
    banner: { js: "import { createRequire as __make } from 'node:module'; const require = __make(import.meta.url);" },
    logLevel: 'silent',
  });
});
afterAll(async () => {
  const { rm } = await import('node:fs/promises');
  await rm(bundles, { recursive: true, force: true });
});

beforeEach(async () => {
  nats = await startNats();
  cleanups.push(() => nats.stop());
  writer = await connect('agent');
  journal = openJournal(writer);
  runnerJournal = openJournal(await connect('tool'), { singleWriter: true });
  const folder = await temporaryFolder('rebuild');
  cleanups.push(() => folder.remove());
  dir = join(folder.path, 'agent', '0');
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function connect(user: string): Promise<Bus> {
  const bus = await connectBus({ url: nats.url, user, seed: nats.seed(user), name: `test ${user}` });
  cleanups.push(() => bus.close());
  return bus;
}

async function open(url = nats.url): Promise<{ model: Model; commits: StoredCommit[] }> {
  const commits: StoredCommit[] = [];
  const model = await openReadModel<ConversationTables>({
    dir,
    projection: conversationProjection,
    connection: { url, user: 'agent', seed: nats.seed('agent'), name: 'test projector' },
    timings: testTimings,
    onApplied: (batch) => commits.push(...batch.commits),
    workerEntry,
  });
  cleanups.push(() => model.stop());
  return { model, commits };
}

async function write(commits: StoredCommit[], heads = new Map<string, number>()): Promise<Map<string, number>> {
  for (const { subject, commit } of commits) {
    const by = subject.includes('.process.') ? runnerJournal : journal;
    const result = await by.append({ subject, expected: heads.get(subject) ?? 0, commit });
    if (result.outcome !== 'committed') throw new Error(`conflict on ${subject}`);
    heads.set(subject, result.streamSeq);
  }
  return heads;
}

const base = () => join(dir, 'state.db');
const databases = () =>
  readdirSync(dir)
    .filter((name) => !/-(wal|shm)$|\.lock/.test(name))
    .sort();

function digestOf(path: string): Record<string, string> {
  const db = openDatabase(path, { synchronous: 'NORMAL', readonly: true });
  try {
    return digest(db);
  } finally {
    db.close();
  }
}

/** Changes the file in force behind the back of its projector. */
function spoil(sql: string): void {
  const db = openDatabase(currentFile(base()), { synchronous: 'NORMAL' });
  db.exec(sql);
  db.close();
}

const titles = (model: Model) =>
  model
    .read((db) => db.all(db.query.selectFrom('threads').select('title').orderBy('created_at')))
    .map((row) => row.title);

describe('a rebuild', () => {
  it('serves ten readers without an error, misses no commit, and ends with the same rows in a new file', async () => {
    const half = Math.floor(sample.length / 2);
    const heads = await write(sample.slice(0, half));
    const { model, commits } = await open();
    await model.level();
    let over = false;
    let reads = 0;
    const reader = async () => {
      let seen = 0;
      while (!over) {
        const { rows, head } = model.read((db) => ({
          rows: db.all(db.query.selectFrom('items').select(db.query.fn.countAll<number>().as('n')))[0]?.n ?? 0,
          head: db.prepare<[], { n: number }>('SELECT applied_seq AS n FROM checkpoint').get()?.n ?? 0,
        }));
        // The file in force never goes back behind what was read before.
        if (head < seen || rows === 0) throw new Error(`read ${rows} rows at ${head} after ${seen}`);
        seen = head;
        reads += 1;
        await sleep(1);
      }
    };
    const readers = Array.from({ length: 10 }, reader);
    const progress: number[] = [];
    const rebuilding = model.rebuild(({ appliedSeq }) => progress.push(appliedSeq));
    const writing = write(sample.slice(half), heads);
    const result = await rebuilding;
    await writing;
    // Written right after the change: seen at once by whoever waits for it.
    const after = await journal.append({ subject: CANARY, expected: 0, commit: commitOf(CANARY, 'after') });
    if (after.outcome !== 'committed') throw new Error('not committed');
    await model.waitFor(after.streamSeq, 30_000);
    expect(model.headOf(CANARY)).toBe(after.streamSeq);
    over = true;
    await Promise.all(readers);
    expect(reads).toBeGreaterThan(20);
    expect(result.differences).toEqual([]);
    expect(result.digestsAfter).toEqual(result.digestsBefore);
    expect(Object.keys(result.digestsAfter)).toEqual(
      expect.arrayContaining(['items', 'runs', 'subject_heads', 'threads']),
    );
    expect(result.appliedSeq).toBeGreaterThanOrEqual(half);
    expect(result.rows).toBeGreaterThan(half);
    expect(progress.at(-1)).toBe(result.appliedSeq);
    expect(progress).toEqual([...progress].sort((a, b) => a - b));
    expect(commits.map(({ streamSeq }) => streamSeq)).toEqual(
      Array.from({ length: after.streamSeq }, (_, index) => index + 1),
    );
    expect(databases()).toEqual(['state.1.db', 'state.db.current']);

    // Once more, and over a restart.
    expect(await model.rebuild()).toMatchObject({ differences: [], appliedSeq: after.streamSeq });
    await model.stop();
    expect(databases()).toEqual(['state.2.db', 'state.db.current']);
    const digests = digestOf(currentFile(base()));
    const again = await open();
    await again.model.level();
    expect(again.commits).toEqual([]);
    await again.model.stop();
    const { rm } = await import('node:fs/promises');
    await rm(dir, { recursive: true });
    const fresh = await open();
    await fresh.model.level();
    await fresh.model.stop();
    expect(digestOf(base())).toEqual(digests);
  });

  it('finds tables that are wrong, names them, puts the right ones in their place, and keeps the file', async () => {
    await write(sample);
    const { model } = await open();
    await model.level();
    const right = titles(model);
    spoil(`UPDATE threads SET title = 'planted' WHERE title IS NOT NULL;
      DELETE FROM items WHERE id IN (SELECT id FROM items LIMIT 1);
      CREATE TABLE planted (id INTEGER PRIMARY KEY) STRICT; INSERT INTO planted VALUES (1)`);
    expect(titles(model)).not.toEqual(right);
    const { differences, digestsBefore, digestsAfter } = await model.rebuild();
    expect(differences).toEqual(['items', 'planted', 'threads']);
    expect(digestsAfter).not.toHaveProperty('planted');
    expect(digestsAfter.runs).toBe(digestsBefore.runs);
    expect(titles(model)).toEqual(right);
    expect(databases()).toEqual(['state.1.db', 'state.db.current', 'state.db.suspect']);
    expect(digestOf(`${base()}.suspect`)).toEqual(digestsBefore);
    expect((await model.rebuild()).differences).toEqual([]);
  });

  it('is one at a time, ends with the read model, and leaves the file as it was where it does not come to its end', async () => {
    await write(sample);
    const { model } = await open();
    await model.level();
    const first = model.rebuild();
    await expect(model.rebuild()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await first;
    let begun = false;
    const cut = model.rebuild(() => {
      begun = true;
    });
    const failed = expect(cut).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    await eventually('a rebuild under way', () => begun, { everyMs: 1 });
    await model.stop();
    await failed;
    await expect(model.rebuild()).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    const again = await open();
    await again.model.level();
    expect(databases()).toHaveLength(2);
    expect(titles(again.model)).toHaveLength(6);
  });

  it('waits for a journal that is away, and refuses one that is another one', async () => {
    await write(sample);
    const { model } = await open();
    await model.level();
    await nats.kill();
    const waiting = model.rebuild();
    await sleep(300);
    expect(titles(model)).toHaveLength(6);
    await nats.restart();
    // Refused where it is asked for before the journal was recognised again, finished where it was under way.
    const code = await waiting.then(
      () => 'done',
      (error: { code: string }) => error.code,
    );
    expect(['done', 'SERVICE_UNAVAILABLE']).toContain(code);
    await model.level();
    const provisioner = await connect('provision');
    await provisioner.jsm.streams.delete(JOURNAL);
    await eventually('the end of applying', () => model.state().state !== 'live');
    const before = currentFile(base());
    await expect(model.rebuild()).rejects.toMatchObject({
      code: expect.stringMatching(/^(SERVICE_UNAVAILABLE|JOURNAL_REGRESSED)$/),
    });
    expect(currentFile(base())).toBe(before);
    expect(titles(model)).toHaveLength(6);
  });
});

describe('a connection that breaks while a file is built anew', () => {
  it('at the change, with a commit waiting, lets that be applied first and the change be made after it', async () => {
    await write(sample);
    const proxy = await tcpProxy(nats.url);
    cleanups.push(() => proxy.close());
    const { model, commits } = await open(proxy.url);
    await model.level();
    // While nothing is applied the stream is asked whether it is still the same.
    let held = false;
    proxy.judge(({ answers }) => {
      if (held || answers !== `$JS.API.STREAM.INFO.${JOURNAL}`) return 'pass';
      held = true;
      return 'drop';
    });
    const rebuilding = model.rebuild();
    await eventually('the change', () => held, { everyMs: 1 });
    const passed = proxy.counts.passed;
    await journal.append({ subject: CANARY, expected: 0, commit: commitOf(CANARY, 'waiting') });
    await eventually('the commit on its way', () => proxy.counts.passed > passed, { everyMs: 1 });
    proxy.cut();
    proxy.mend();
    expect(await rebuilding).toMatchObject({ differences: [], appliedSeq: sample.length + 1 });
    expect(commits).toHaveLength(sample.length + 1);
  });

  it('delays it at most, whenever that is', async () => {
    await write(sample);
    const proxy = await tcpProxy(nats.url);
    cleanups.push(() => proxy.close());
    const { model, commits } = await open(proxy.url);
    await model.level();
    const random = seededRandom(7);
    let done = 0;
    for (let round = 0; round < 6; round += 1) {
      const rebuilding = model.rebuild().then(
        () => 'done',
        (error: { code: string }) => error.code,
      );
      await sleep(random.integer(0, 250));
      proxy.cut();
      const expected = (await journal.readLast(CANARY))?.streamSeq ?? 0;
      await journal.append({ subject: CANARY, expected, commit: commitOf(CANARY, `c${round}`) });
      proxy.mend();
      const outcome = await rebuilding;
      expect(['done', 'SERVICE_UNAVAILABLE']).toContain(outcome);
      done += outcome === 'done' ? 1 : 0;
      await model.level();
    }
    expect(done).toBeGreaterThan(0);
    expect(commits).toHaveLength(sample.length + 6);
    expect(await model.rebuild()).toMatchObject({ differences: [], appliedSeq: sample.length + 6 });
  });
});

describe('a process that is killed while it rebuilds', () => {
  it('leaves a file in force that is whole, whenever that was', async () => {
    await write(sample);
    const connection = { url: nats.url, user: 'agent', seed: nats.seed('agent'), name: 'test child' };
    const argument = JSON.stringify({ dir, workerEntry, connection, rebuild: true });
    const random = seededRandom(20261130);
    for (let round = 0; round < 9; round += 1) {
      const before = currentFile(base());
      const child = spawn(process.execPath, [join(bundles, 'child.mjs'), argument]);
      cleanups.push(async () => child.kill('SIGKILL'));
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
      const sees = (what: string, look: () => boolean) => eventually(what, look, { timeoutMs: 30_000, everyMs: 1 });
      // While it builds, at the change, and some time behind it.
      if (round % 3 === 0) await sees('a rebuild', () => output.includes('building'));
      if (round % 3 === 1) await sees('the change', () => currentFile(base()) !== before);
      if (round % 3 === 2) await sees('a whole rebuild', () => /^rebuilt/m.test(output));
      if (round % 3 !== 1) await sleep(random.integer(0, 100));
      child.kill('SIGKILL');
      await new Promise((resolve) => child.once('exit', resolve));
      expect(output).not.toMatch(/^rebuilt .+/m);
      if (round % 3 === 2) expect(currentFile(base())).not.toBe(before);
    }
    const { model } = await open();
    await model.level();
    expect(databases().filter((name) => name.endsWith('.db'))).toHaveLength(1);
    expect(existsSync(currentFile(base()))).toBe(true);
    expect(await model.rebuild()).toMatchObject({ differences: [] });
    expect(model.stats()).toMatchObject({ appliedSeq: sample.length, appliedCount: sample.length, skipped: 0 });
  });
});
