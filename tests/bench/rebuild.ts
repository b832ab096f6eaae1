import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { conversationProjection } from '@rookery/kernel';
import { openDatabase, openReadModel } from '@rookery/read-model';
import { connectAs, connectClient, consumeAll, type RpcClient } from '@rookery/testkit';
import { temporaryHome } from '../service/running-house.ts';
import { median, print } from './figures.ts';
import { startBenchHouse } from './house.ts';
import { withLongJournal } from './long-journal.ts';
import { residentMib } from './machine.ts';

/** Events of the journal; `ROOKERY_BENCH_EVENTS` makes a shorter one for a quick look. */
const EVENTS = Number(process.env.ROOKERY_BENCH_EVENTS || 1_000_000);
const ROUNDS = 3;
const ROWS_A_TRANSACTION = 1000;
const PAGE = 1000;

type Nats = { url: string; seed(user: string): string };

/** Consumes the whole journal and inserts one row an event: what any read model has to do at the least. */
async function bareLoop(nats: Nats, folder: string): Promise<number> {
  const path = join(folder, 'bare.db');
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
  const db = openDatabase(path, { synchronous: 'NORMAL' });
  db.exec('CREATE TABLE events (seq INTEGER PRIMARY KEY, type TEXT NOT NULL, payload TEXT NOT NULL) STRICT');
  const insert = db.prepare('INSERT INTO events VALUES (?, ?, ?)');
  const nc = await connectAs(nats, 'provision');
  const started = performance.now();
  let events = 0;
  let rows = 0;
  db.exec('BEGIN');
  await consumeAll(nc, 'JOURNAL', (seq, text) => {
    const commit = JSON.parse(text) as { events: { type: string; payload: unknown }[] };
    for (const [index, { type, payload }] of commit.events.entries()) {
      insert.run(seq * 1024 + index, type, JSON.stringify(payload));
      events += 1;
      rows += 1;
    }
    if (rows < ROWS_A_TRANSACTION) return;
    rows = 0;
    db.exec('COMMIT; BEGIN');
  });
  db.exec('COMMIT');
  const seconds = (performance.now() - started) / 1000;
  await nc.close();
  db.close();
  return events / seconds;
}

/** Builds the conversation read model from nothing; also gives the resident memory at half way and at the end. */
async function rebuild(
  nats: Nats,
  folder: string,
  events: number,
): Promise<{ rate: number; half: number; end: number }> {
  const dir = join(folder, 'rebuilt');
  rmSync(dir, { recursive: true, force: true });
  const started = performance.now();
  let half = 0;
  const model = await openReadModel({
    dir,
    projection: conversationProjection,
    workerEntry: join(process.cwd(), 'dist/projector-worker.mjs'),
    connection: { url: nats.url, user: 'agent', seed: nats.seed('agent'), name: 'bench' },
  });
  const level = model.level();
  const sample = setInterval(() => {
    const { appliedSeq, lastSeq } = model.stats();
    if (half > 0 || lastSeq === 0 || appliedSeq <= lastSeq / 2) return;
    clearInterval(sample);
    void residentMib([process.pid]).then((mib) => {
      half = mib;
    });
  }, 100);
  await level;
  const seconds = (performance.now() - started) / 1000;
  clearInterval(sample);
  const end = await residentMib([process.pid]);
  await model.stop();
  return { rate: events / seconds, half, end };
}

/** Events a second through event.replay to one client, from the first to the last. */
async function replay(client: RpcClient): Promise<number> {
  const started = performance.now();
  let events = 0;
  for (let afterSeq = 0; ; ) {
    const page = await client.request<{ events: unknown[]; nextAfterSeq: number; hasMore: boolean }>('event.replay', {
      afterSeq,
      limit: PAGE,
    });
    events += page.events.length;
    if (!page.hasMore) return events / ((performance.now() - started) / 1000);
    afterSeq = page.nextAfterSeq;
  }
}

/** Figures of a long journal: building a read model anew, replaying to a client, opening a long thread. */
export async function benchLongJournal(): Promise<void> {
  const home = await temporaryHome();
  try {
    await withLongJournal(home, EVENTS, async ({ events, commits, seconds }, nats) => {
      print('long_journal_events', events, 'events', null);
      print('long_journal_written_per_s', commits / seconds, 'commits/s', null);
      const bare: number[] = [];
      const ours: { rate: number; half: number; end: number }[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        bare.push(await bareLoop(nats, home));
        ours.push(await rebuild(nats, home, events));
      }
      const rate = median(ours.map((each) => each.rate));
      print('rebuild_ratio', rate / median(bare), 'ratio', { atLeast: 0.6 });
      print('rebuild_events_per_s', rate, 'events/s', null);
      print('rebuild_bare_loop_events_per_s', median(bare), 'events/s', null);
      const growth = median(ours.map(({ half, end }) => end - half));
      print('rebuild_rss_growth_second_half_mib', growth, 'MiB', { under: 32 });
    });
    const house = await startBenchHouse(home);
    try {
      print('long_journal_start_s', house.startedIn, 's', null);
      const client = await connectClient({ url: house.url, token: house.token, protocolVersion: 13 });
      const rates: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) rates.push(await replay(client));
      print('replay_events_per_s', median(rates), 'events/s', { atLeast: 60_000 });
      await client.close();
    } finally {
      await house.stop();
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
