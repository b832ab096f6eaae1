import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Bus, connectBus, provision } from '@rookery/bus';
import { type Journal, openJournal } from '@rookery/journal';
import { type ConversationTables, conversationProjection } from '@rookery/kernel';
import { AppError, COMMIT_HEADER, JOURNAL, type StoredCommit } from '@rookery/protocol';
import { digest, openDatabase, openReadModel, type ReadModel, type ReadModelState } from '@rookery/read-model';
import { encodeStored, eventually, sampleConversation, startNats, type TestNats, temporaryFolder, testTimings } from '@rookery/testkit';
import { headers } from '@nats-io/transport-node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

type Model = ReadModel<ConversationTables>;

let nats: TestNats;
let writer: Bus;
let journal: Journal;
/** Process subjects have a writer of their own. */
let runnerJournal: Journal;
let dir: string;
const cleanups: (() => Promise<unknown>)[] = [];

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

async function open(options: { workerEntry?: URL } = {}): Promise<Watched> {
  const states: ReadModelState[] = [];
  const commits: StoredCommit[] = [];
  const model = await openReadModel<ConversationTables>({
    dir,
    projection: conversationProjection,
    connection: { url: nats.url, user: 'agent', seed: nats.seed('agent'), name: 'test projector' },
    timings: testTimings,
    onApplied: (batch) => commits.push(...batch.commits),
    onState: (state) => states.push(state),
    ...options,
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
  return await eventually(`state ${state}`, () => states.find((each) => each.state === state), { timeoutMs: 10_000 });
}

describe('a read model', () => {
  it('applies what is there and what comes, and hands out every commit once, in order', async () => {
    const heads = await write(sample.slice(0, half));
    const { model, commits, states } = await open();
    await model.level();
    expect(model.appliedSeq()).toBe(half);
    await write(sample.slice(half), heads);
    await model.waitFor(sample.length, 5000);
    expect(commits).toEqual(sample);
    expect(states.at(-1)).toEqual({ state: 'live', applied: expect.any(Number) });
    const last = sample.at(-1);
    expect(model.headOf(last?.subject ?? '')).toBe(sample.length);
    const threads = model.read((db) => db.all(db.query.selectFrom('threads').select(['id', 'title']).orderBy('created_at')));
    expect(threads.map(({ title }) => title)).toEqual(['Sample 0', null]);
    expect(model.stats()).toMatchObject({ appliedSeq: sample.length, lag: 0, appliedCount: sample.length, quarantined: 0 });
  });

  it('goes on from its checkpoint, also after the server was killed in between', async () => {
    const heads = await write(sample.slice(0, half));
    const first = await open();
    await first.model.level();
    await nats.kill();
    await nats.restart();
    await write(sample.slice(half, half + 5), heads);
    await first.model.waitFor(half + 5, 10_000);
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

  it('refuses a second one in the same place, and takes the place of one that was killed', async () => {
    const { model } = await open();
    await expect(open()).rejects.toMatchObject({ code: 'HOME_LOCKED', details: { pid: process.pid } });
    await model.stop();
    await (await open()).model.level();
  });
});
