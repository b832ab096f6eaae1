import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError, type ErrorCode, type WireEvent } from '@rookery/protocol';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { openFeed } from './thread-feed.ts';

const THREAD = 'thread_1';
const stream = Array.from(
  { length: 8 },
  (_, n): WireEvent => ({
    seq: (n + 1) * 1024,
    prevSeq: n * 1024,
    schemaVersion: 11,
    type: 'item.delta',
    threadId: THREAD,
    branchId: null,
    turnId: null,
    runId: null,
    itemId: null,
    timestamp: '2026-11-30T12:00:00.000Z',
    payload: {},
  }),
);

/** The gateway's side of the wire: its journal grows by `publish`, which tells only its last event live. */
class Gateway {
  readonly known: WireEvent[] = [];
  /** What the next replays answer instead of a page. */
  readonly refusals: ErrorCode[] = [];
  readonly #server = new WebSocketServer({ host: '127.0.0.1', port: 0 });

  constructor() {
    this.#server.on('connection', (socket) => {
      socket.on('message', (data) => {
        const { id, method, params } = JSON.parse(data.toString());
        const refused = method === 'event.replay' ? this.refusals.shift() : undefined;
        const answer =
          refused === undefined
            ? { result: method === 'event.replay' ? this.#page(params.afterSeq) : {} }
            : { error: { code: -32030, message: refused, data: new AppError(refused).toBody() } };
        socket.send(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
      });
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  publish(events: readonly WireEvent[]): void {
    this.known.push(...events);
    const params = events.at(-1);
    for (const socket of this.#server.clients) socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'event', params }));
  }

  #page(afterSeq: number): object {
    const events = this.known.filter((event) => event.seq > afterSeq);
    return { events, nextAfterSeq: events.at(-1)?.seq ?? afterSeq, hasMore: false };
  }

  async stop(): Promise<void> {
    for (const socket of this.#server.clients) socket.terminate();
    await new Promise((done) => this.#server.close(done));
  }
}

let gateway: Gateway;
let home: string;
const before = { ...process.env };

beforeEach(async () => {
  gateway = new Gateway();
  home = await mkdtemp(join(tmpdir(), 'rookery-feed-'));
  await writeFile(join(home, 'token'), 'token');
  process.env.ROOKERY_HOME = home;
  process.env.ROOKERY_HTTP = `127.0.0.1:${gateway.port}`;
});
afterEach(async () => {
  process.env = { ...before };
  await gateway.stop();
  await rm(home, { recursive: true });
});

async function follow(until: number) {
  const seen: number[] = [];
  let reached: () => void = () => undefined;
  const all = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const feed = await openFeed({
    onEvent: ({ seq }) => {
      seen.push(seq);
      if (seq === until * 1024) reached();
    },
    onStatus: () => undefined,
    patienceMs: 10_000,
  });
  return { feed, seen, all };
}

const seqs = stream.map(({ seq }) => seq);

it('takes what a refused replay held back, also where nothing comes after it', async () => {
  const { feed, seen, all } = await follow(8);
  await feed.follow(THREAD, 0);
  gateway.refusals.push('JOURNAL_UNAVAILABLE', 'RATE_LIMITED');
  gateway.publish(stream);
  await all;
  expect(seen).toEqual(seqs);
  feed.stop();
  await feed.done;
});

it('follows a thread although the first replay is refused for now', async () => {
  const { feed, seen, all } = await follow(8);
  gateway.refusals.push('JOURNAL_UNAVAILABLE');
  gateway.publish(stream);
  await feed.follow(THREAD, 0);
  await all;
  expect(seen).toEqual(seqs);
  feed.stop();
});

it('ends with the code where the replay is refused for good', async () => {
  const { feed, seen } = await follow(8);
  await feed.follow(THREAD, 0);
  gateway.refusals.push('JOURNAL_UNAVAILABLE', 'THREAD_NOT_FOUND');
  gateway.publish(stream);
  await expect(feed.done).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
  expect(seen).toEqual([]);
  feed.stop();
});
