import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { headers } from '@nats-io/transport-node';
import { type Bus, connectBus, provision } from '@rookery/bus';
import { type Journal, openJournal } from '@rookery/journal';
import { type ConversationTables, conversationProjection, defineProjection, type Projection } from '@rookery/kernel';
import { COMMIT_HEADER, type Commit, JOURNAL, type StoredCommit } from '@rookery/protocol';
import { digest, openDatabase, openReadModel, type ReadModel, type ReadModelState } from '@rookery/read-model';
import {
  eventually,
  sampleConversation,
  startNats,
  type TestNats,
  tcpProxy,
  temporaryFolder,
  testTimings,
} from '@rookery/testkit';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

type Model = ReadModel<ConversationTables>;

let nats: TestNats;
let writer: Bus;
let journal: Journal;
/** Process subjects have a writer of their own. */
let runnerJournal: Journal;
let dir: string;
const cleanups: (() => Promise<unknown>)[] = [];

const root = fileURLToPath(new URL('../..', import.meta.url));
// Inside the tree, so that what is not bundled is found.
const bundles = join(root, 'node_modules', '.cache', `read-model-test-${process.pid}`);
const workerEntry = join(bundles, 'projector-worker.mjs');

/** The projector's thread as it ships, and a process that uses it. */
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
afterAll(() => rm(bundles, { recursive: true, force: true }));

beforeEach(async () => {
  nats = await startNats();
  cleanups.push(() => nats.stop());
  writer = await connect('agent');
  journal = openJournal(writer);
  runnerJournal = openJournal(await connect('tool'), { singleWriter: true });
  const folder = await temporaryFolder('read-model');
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

interface Watched {
  model: Model;
  states: ReadModelState[];
  commits: StoredCommit[];
}

async function open(projection: Projection = conversationProjection, url = nats.url): Promise<Watched> {
  const states: ReadModelState[] = [];
  const commits: StoredCommit[] = [];
  const model = await openReadModel<ConversationTables>({
    dir,
    projection,
    connection: { url, user: 'agent', seed: nats.seed('agent'), name: 'test projector' },
    timings: testTimings,
    onApplied: (batch) => commits.push(...batch.commits),
    onState: (state) => states.push(state),
    workerEntry,
  });
  cleanups.push(() => model.stop());
  return { model, states, commits };
}

/** Writes a made-up journal; its sequences are those that the stream gives. */
async function write(commits: StoredCommit[], heads = new Map<string, number>()): Promise<Map<string, number>> {
  for (const { subject, commit } of commits) {
    const by = subject.includes('.process.') ? runnerJournal : journal;
    const result = await by.append({ subject, expected: heads.get(subject) ?? 0, commit });
    if (result.outcome !== 'committed') throw new Error(`conflict on ${subject}`);
    heads.set(subject, result.streamSeq);
  }
  return heads;
}

/** Digest of the file of a read model that is stopped. */
function digestOf(path: string): Record<string, string> {
  const db = openDatabase(path, { synchronous: 'NORMAL' });
  try {
    return digest(db);
  } finally {
    db.close();
  }
}

const database = () => join(dir, 'state.db');
const sample = sampleConversation({ threads: 2, turns: 2 });
const half = Math.floor(sample.length / 2);

async function stateOf({ states }: Watched, state: ReadModelState['state']): Promise<ReadModelState> {
  return await eventually(`state ${state}`, () => states.find((each) => each.state === state), { timeoutMs: 30_000 });
}

/** A commit on `journal.canary`. */
function canaryCommit(n: number): Commit {
  const cause = `canary-${n}`;
  const events = [{ type: 'canary.written', payload: {} }];
  return {
    v: 1,
    id: `journal.canary/${cause}/0`,
    cause,
    at: '2026-11-30T13:00:00.000Z',
    by: 'test',
    agentId: 'main',
    events,
  };
}

describe('a read model', () => {
  it('applies what is there and what comes, and hands out every commit once, in order', async () => {
    const heads = await write(sample.slice(0, half));
    const { model, commits, states } = await open();
    await model.level();
    expect(model.appliedSeq()).toBe(half);
    await write(sample.slice(half), heads);
    await model.waitFor(sample.length, 30_000);
    expect(commits).toEqual(sample);
    expect(states.at(-1)).toEqual({ state: 'live', applied: expect.any(Number) });
    const last = sample.at(-1);
    expect(model.headOf(last?.subject ?? '')).toBe(sample.length);
    const threads = model.read((db) =>
      db.all(db.query.selectFrom('threads').select(['id', 'title']).orderBy('created_at')),
    );
    expect(threads.map(({ title }) => title)).toEqual(['Sample 0', null]);
    const stats = model.stats();
    expect(stats).toMatchObject({ appliedSeq: sample.length, lag: 0, appliedCount: sample.length, quarantined: 0 });
  });

  it('goes on from its checkpoint, also after the server was killed, and equals one built anew', async () => {
    const heads = await write(sample.slice(0, half));
    const first = await open();
    await first.model.level();
    await nats.kill();
    await nats.restart();
    await write(sample.slice(half, half + 5), heads);
    await first.model.waitFor(half + 5, 30_000);
    expect(first.commits).toEqual(sample.slice(0, half + 5));
    await first.model.stop();
    await write(sample.slice(half + 5), heads);
    const second = await open();
    await second.model.level();
    expect(second.commits).toEqual(sample.slice(half + 5));
    await second.model.stop();
    const live = digestOf(database());
    rmSync(database());
    const third = await open();
    await third.model.level();
    await third.model.stop();
    expect(digestOf(database())).toEqual(live);
  });

  it('waits for a server that is not there yet', async () => {
    await nats.kill();
    const watched = await open();
    await expect(watched.model.waitFor(1, 300)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await nats.restart();
    await write(sample.slice(0, 3));
    await watched.model.level();
    expect(watched.model.appliedSeq()).toBe(3);
  });

  it('refuses a second one in its place, and a thread that knows another version of its projection', async () => {
    const { model } = await open();
    await expect(open()).rejects.toMatchObject({ code: 'HOME_LOCKED', details: { pid: process.pid } });
    await model.stop();
    const other = defineProjection({ ...conversationProjection, revision: 999 });
    await expect(open(other)).rejects.toMatchObject({ code: 'INTERNAL' });
    await (await open()).model.level();
  });

  it('reads rows and heads of one moment, and refuses a transaction that waits', async () => {
    const { model } = await open();
    const heads = await write(sample.slice(0, 1));
    await model.level();
    const subject = sample[0]?.subject ?? '';
    const seen = model.read((db) => {
      const before = db.head(subject);
      expect(model.read((inner) => inner.headOf(subject))).toBe(before.streamSeq);
      return before;
    });
    expect(seen).toEqual({ streamSeq: 1, commitId: sample[0]?.commit.id, at: sample[0]?.commit.at });
    await expect(async () => await model.read(async () => 1)).rejects.toThrow(TypeError);
    expect(model.headOf('journal.config')).toBe(0);
    expect(heads.get(subject)).toBe(1);
  });
});

describe('read models of one process', () => {
  it('share a thread and go on without one that is stopped', async () => {
    const first = await open();
    const home = dir;
    dir = join(home, 'other');
    const second = await open();
    await write(sample.slice(0, 5));
    await Promise.all([first.model.level(), second.model.level()]);
    await first.model.stop();
    dir = home;
    await journal.append({ subject: 'journal.canary', expected: 0, commit: canaryCommit(6) });
    await second.model.waitFor(6, 30_000);
    expect(first.commits).toHaveLength(5);
    expect(second.commits).toHaveLength(6);
    expect(() => first.model.read((db) => db.headOf('journal.canary'))).toThrow(
      expect.objectContaining({ code: 'SHUTTING_DOWN' }),
    );
    await expect(first.model.waitFor(7, 30_000)).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    await expect(first.model.level()).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  });

  it('are not harmed by one whose file keeps the thread waiting while it stops', async () => {
    const home = dir;
    const models: Watched[] = [];
    for (const name of ['one', 'two', 'three']) {
      dir = join(home, name);
      models.push(await open());
    }
    const [first, second, third] = models as [Watched, Watched, Watched];
    const heads = await write(sample.slice(0, 5));
    await Promise.all(models.map(({ model }) => model.level()));
    // Every attempt to write waits for the lock, and the thread with it: one after the other, for several seconds each.
    const locks = ['one', 'two', 'three'].map((name) => {
      const db = openDatabase(join(home, name, 'state.db'), { synchronous: 'NORMAL' });
      db.exec('BEGIN IMMEDIATE');
      return db;
    });
    await write(sample.slice(5, 8), heads);
    await eventually('a model that finds its file locked', () =>
      models.some(({ model }) => model.state().state === 'stalled'),
    );
    await first.model.stop();
    for (const db of locks) db.close();
    await write(sample.slice(8, 12), heads);
    await Promise.all([second.model.level(), third.model.level()]);
    expect(second.commits).toEqual(sample.slice(0, 12));
    expect(third.commits).toEqual(sample.slice(0, 12));
  });
});

describe('a server that gives no answer', () => {
  it('to a read of what is missing is asked again, before the journal is judged', async () => {
    const heads = await write(sample.slice(0, 5));
    await write(sample.slice(5, 7), heads);
    await journal.append({ subject: 'journal.canary', expected: 0, commit: canaryCommit(8) });
    await journal.append({ subject: 'journal.canary', expected: 8, commit: canaryCommit(9) });
    await (await connect('provision')).jsm.streams.deleteMessage(JOURNAL, 8, true);
    const proxy = await tcpProxy(nats.url);
    cleanups.push(() => proxy.close());
    const inboxes: string[] = [];
    proxy.judge(({ subject, answers }) => {
      if (answers !== `$JS.API.DIRECT.GET.${JOURNAL}`) return 'pass';
      if (!inboxes.includes(subject)) inboxes.push(subject);
      // The first read is the page with the hole, the second one the look into it.
      return inboxes.indexOf(subject) === 1 ? 'drop' : 'pass';
    });
    const watched = await open(conversationProjection, proxy.url);
    await expect(watched.model.level()).rejects.toMatchObject({ code: 'JOURNAL_REGRESSED' });
    expect(inboxes.length).toBeGreaterThan(2);
    expect(watched.states.map(({ state }) => state)).not.toContain('failed');
  });
});

describe('a process that is killed while it applies', () => {
  it('leaves a file that goes on exactly where its rows end', async () => {
    const connection = { url: nats.url, user: 'agent', seed: nats.seed('agent'), name: 'test child' };
    const argument = JSON.stringify({ dir, workerEntry, connection });
    const script = join(bundles, 'child.mjs');
    const heads = new Map<string, number>();
    const rounds = 3;
    const part = Math.ceil(sample.length / rounds);
    for (let round = 0; round < rounds; round += 1) {
      const child = spawn(process.execPath, [script, argument]);
      cleanups.push(async () => child.kill('SIGKILL'));
      const writing = write(sample.slice(round * part, (round + 1) * part), heads);
      // Killed at the first sign that it applies, while more is coming.
      await once(child.stdout, 'data');
      child.kill('SIGKILL');
      await Promise.all([once(child, 'exit'), writing]);
    }
    const { model } = await open();
    await model.level();
    expect(model.stats()).toMatchObject({ appliedCount: sample.length, skipped: 0 });
    await model.stop();
    const killed = digestOf(database());
    rmSync(database());
    const fresh = await open();
    await fresh.model.level();
    await fresh.model.stop();
    expect(digestOf(database())).toEqual(killed);
  });
});

describe('a process whose disk takes no more in the middle of a batch', () => {
  it('hands out what was applied before that, and goes on when there is room, each commit once', async () => {
    // More than one transaction of rows in one page of the journal.
    const deltas = 24;
    const text = 'x'.repeat(400_000);
    const first = sample.findIndex(({ commit }) => commit.events.some(({ type }) => type === 'item.delta'));
    const delta = sample[first];
    if (delta === undefined) throw new Error('no deltas');
    const heads = await write(sample.slice(0, first));
    const repeated = Array.from({ length: deltas }, (_, n) => ({
      ...delta,
      commit: {
        ...delta.commit,
        id: `${delta.subject}/large-${n}/0`,
        events: delta.commit.events.map((event) =>
          event.type === 'item.delta' ? { ...event, payload: { ...event.payload, delta: text } } : event,
        ),
      },
    }));
    await write(repeated, heads);
    const connection = { url: nats.url, user: 'agent', seed: nats.seed('agent'), name: 'test child' };
    const argument = JSON.stringify({ dir, workerEntry, connection });
    // The largest file that the process may write, in blocks of 512 bytes: one transaction of 4 MiB fits, two do not.
    const limited = `trap '' XFSZ; ulimit -S -f ${(6 * 1024 * 1024) / 512}; exec "$0" "$@"`;
    const child = spawn('sh', ['-c', limited, process.execPath, join(bundles, 'child.mjs'), argument]);
    cleanups.push(async () => child.kill('SIGKILL'));
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (part: string) => {
        output += part;
      });
    }
    await eventually('a full disk', () => output.includes('stalled\n'), { timeoutMs: 30_000 });
    const whenFull = output;
    execFileSync('prlimit', ['--pid', String(child.pid), '--fsize=unlimited:']);
    const total = first + deltas;
    await eventually('the rest', () => output.includes(`commit ${total}\n`), { timeoutMs: 30_000 });
    const commits = [...output.matchAll(/^commit (\d+)$/gm)].map(([, seq]) => Number(seq));
    expect(commits).toEqual(Array.from({ length: total }, (_, n) => n + 1));
    expect(whenFull).toContain(`commit ${first + 1}\n`);
    expect(whenFull).not.toContain(`commit ${total}\n`);
  });
});

describe('a read model whose journal is another one', () => {
  const regressed = { code: 'JOURNAL_REGRESSED', details: { waysBack: expect.arrayContaining([expect.any(String)]) } };

  async function recreate(): Promise<void> {
    const bus = await connect('provision');
    await bus.jsm.streams.delete(JOURNAL);
    await provision(bus, { timings: testTimings });
  }

  it('stops under a living service when the stream is made again, and still answers reads', async () => {
    await write(sample.slice(0, 8));
    const watched = await open();
    await watched.model.level();
    await recreate();
    expect(await stateOf(watched, 'regressed')).toMatchObject({ error: { ...regressed } });
    await write(sample.slice(0, 12));
    await expect(watched.model.waitFor(9, 30_000)).rejects.toMatchObject({ code: 'JOURNAL_REGRESSED' });
    await expect(watched.model.level()).rejects.toMatchObject({ code: 'JOURNAL_REGRESSED' });
    expect(watched.model.appliedSeq()).toBe(8);
    expect(watched.commits).toHaveLength(8);
    expect(watched.model.headOf(sample[0]?.subject ?? '')).toBeGreaterThan(0);
  });

  it('stops at the start, before anything is applied', async () => {
    await write(sample.slice(0, 8));
    const before = await open();
    await before.model.level();
    await before.model.stop();
    await recreate();
    await write(sample.slice(0, 20));
    const after = await open();
    await expect(after.model.level()).rejects.toMatchObject(regressed);
    expect(after.model.appliedSeq()).toBe(8);
    expect(after.commits).toEqual([]);
  });

  it('stops when an older store comes back, and when its sequences were used again', async () => {
    const store = join(nats.home, 'nats', 'store');
    const heads = await write(sample.slice(0, 10));
    await nats.kill();
    await cp(store, `${store}-old`, { recursive: true });
    await nats.restart();
    const living = await open();
    await write(sample.slice(10, 16), heads);
    await living.model.waitFor(16, 30_000);
    await nats.kill();
    await rm(store, { recursive: true });
    await cp(`${store}-old`, store, { recursive: true });
    await nats.restart();
    expect(await stateOf(living, 'regressed')).toMatchObject({
      error: { details: { what: 'last sequence', found: 10 } },
    });
    await living.model.stop();
    const canary = (n: number) => ({
      subject: 'journal.canary',
      expected: n === 11 ? 0 : n - 1,
      commit: canaryCommit(n),
    });
    for (let n = 11; n <= 20; n += 1) await journal.append(canary(n));
    const again = await open();
    await expect(again.model.level()).rejects.toMatchObject({ ...regressed, details: { what: 'commit id', at: 16 } });
    expect(again.model.appliedSeq()).toBe(16);
  });

  it('stops at a message that is gone, unless its erasure is on record', async () => {
    const heads = await write(sample.slice(0, 5));
    const before = await open();
    await before.model.level();
    await before.model.stop();
    await write(sample.slice(5, 7), heads);
    await journal.append({ subject: 'journal.canary', expected: 0, commit: canaryCommit(8) });
    await journal.append({ subject: 'journal.canary', expected: 8, commit: canaryCommit(9) });
    const bus = await connect('provision');
    await bus.jsm.streams.deleteMessage(JOURNAL, 8, true);
    const holed = await open();
    await expect(holed.model.level()).rejects.toMatchObject({ ...regressed, details: { what: 'missing messages' } });
    expect(holed.model.appliedSeq()).toBe(7);
    await holed.model.stop();
    const db = openDatabase(database(), { synchronous: 'NORMAL' });
    db.exec('INSERT INTO erasures VALUES (8, 8)');
    db.close();
    const after = await open();
    await after.model.level();
    expect(after.model.appliedSeq()).toBe(9);
  });
});

describe('messages that cannot be applied', () => {
  async function publish(subject: string, body: string, isCommit: boolean): Promise<void> {
    const header = headers();
    if (isCommit) header.set(COMMIT_HEADER, '1');
    await writer.nc.request(subject, body, { headers: header, timeout: 5000 });
  }

  it('are skipped and counted: foreign ones everywhere, damaged ones with what follows in their thread', async () => {
    const subject = sample[0]?.subject ?? '';
    const other = sample.find((each) => each.subject !== subject && each.subject.endsWith('.turns'));
    if (other === undefined) throw new Error('one thread only');
    await write(sample.slice(0, 2));
    await publish('journal.canary', 'hello', false);
    await publish(subject, '{"v":1', true);
    await write([{ ...other }]);
    await journal.append({ subject, expected: 4, commit: { ...canaryCommit(6), id: `${subject}/after/0` } });
    const { model, commits } = await open();
    await model.level();
    expect(commits.map(({ streamSeq }) => streamSeq)).toEqual([1, 2, 5]);
    expect(model.stats()).toMatchObject({ appliedSeq: 6, appliedCount: 3, foreign: 1, skipped: 2, quarantined: 1 });
    const damage = model.read((db) => [
      db.damageOf(subject),
      db.damageOf(subject.replace('turns', 'run.r')),
      db.damageOf(other.subject),
    ]);
    const expected = { subject, streamSeq: 4, reason: 'damaged' };
    expect(damage).toEqual([expected, expected, null]);
    expect(model.headOf(subject)).toBe(6);
  });

  it('of a newer version end applying', async () => {
    await write(sample.slice(0, 2));
    await publish('journal.canary', JSON.stringify({ ...canaryCommit(3), v: 99 }), true);
    const watched = await open();
    await expect(watched.model.level()).rejects.toMatchObject({ code: 'READMODEL_TOO_OLD' });
    expect(watched.model.state()).toMatchObject({ state: 'too-old', error: { details: { streamSeq: 3 } } });
    expect(watched.model.appliedSeq()).toBe(2);
  });

  it('of a newer version end applying under a living service too, which then stops in order', async () => {
    await write(sample.slice(0, 2));
    const watched = await open();
    await watched.model.level();
    await publish('journal.canary', JSON.stringify({ ...canaryCommit(3), v: 99 }), true);
    expect(await stateOf(watched, 'too-old')).toMatchObject({ error: { details: { streamSeq: 3 } } });
    await expect(watched.model.waitFor(3, 30_000)).rejects.toMatchObject({ code: 'READMODEL_TOO_OLD' });
    await watched.model.stop();
    const again = await open();
    await expect(again.model.level()).rejects.toMatchObject({ code: 'READMODEL_TOO_OLD' });
  });
});

describe('a file that cannot be used', () => {
  /** Overwrites 4 KiB pages with noise. */
  function spoil(fromPage: number, pages: number): void {
    const file = openSync(database(), 'r+');
    writeSync(file, Buffer.alloc(4096 * pages, 0xa5), 0, 4096 * pages, 4096 * fromPage);
    closeSync(file);
  }
  const pages = () => Math.floor(statSync(database()).size / 4096);

  async function built(): Promise<Record<string, string>> {
    await write(sample);
    const { model } = await open();
    await model.level();
    await model.stop();
    return digestOf(database());
  }

  it('is moved aside and built anew when it is damaged at the start', async () => {
    const digests = await built();
    spoil(Math.floor(pages() / 2), 1);
    const watched = await open();
    await watched.model.level();
    expect(await stateOf(watched, 'replaying')).toMatchObject({ rebuilt: 'corrupt', last: sample.length });
    expect(existsSync(`${database()}.corrupt`)).toBe(true);
    await watched.model.stop();
    expect(digestOf(database())).toEqual(digests);
  });

  it('is built anew under a living service, which hears every commit once', async () => {
    const digests = await built();
    const { model, commits } = await open();
    await model.level();
    spoil(1, pages() - 1);
    expect(() => model.read((db) => db.prepare('SELECT * FROM items').all())).toThrow(
      expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' }),
    );
    await eventually('a new file', () => model.read((db) => db.prepare('SELECT 1').get()), { timeoutMs: 30_000 });
    await model.level();
    await journal.append({ subject: 'journal.canary', expected: 0, commit: canaryCommit(sample.length + 1) });
    await model.waitFor(sample.length + 1, 30_000);
    expect(commits.map(({ streamSeq }) => streamSeq)).toEqual([sample.length + 1]);
    await model.stop();
    const { subject_heads: _heads, ...rows } = digestOf(database());
    expect(digests).toMatchObject(rows);
  });

  it('is built anew when it is of another version', async () => {
    const digests = await built();
    const db = openDatabase(database(), { synchronous: 'NORMAL' });
    db.exec(`UPDATE checkpoint SET version = 'older'; DELETE FROM threads`);
    db.close();
    const watched = await open();
    await watched.model.level();
    expect(await stateOf(watched, 'replaying')).toMatchObject({ rebuilt: 'version' });
    await watched.model.stop();
    expect(digestOf(database())).toEqual(digests);
    expect(existsSync(`${database()}.corrupt`)).toBe(false);
  });
});
