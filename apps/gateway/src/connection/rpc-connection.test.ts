import { EventEmitter } from 'node:events';
import { commitOf } from '@rookery/testkit';
import { afterEach, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { EventHub } from '../events/hub.ts';
import type { Dispatch } from '../rpc/dispatcher.ts';
import { RpcConnection } from './rpc-connection.ts';

/** A socket that goes on handing over frames while it is paused, as one does whose frames have arrived. */
class Socket extends EventEmitter {
  readonly bufferedAmount = 0;
  isPaused = false;
  sent: { id?: number; method?: string; params?: { threadId: string } }[] = [];

  send(frame: string | Buffer, _options: object, written: () => void): void {
    this.sent.push(JSON.parse(String(frame)));
    setImmediate(written);
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  close(): void {
    this.emit('close');
  }

  terminate(): void {
    this.emit('close');
  }

  ask(id: number, method: string, params: object): void {
    this.emit('message', Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, method, params })), false);
  }
}

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
});

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function connect(dispatch: Dispatch, searchBack: () => Promise<number> = async () => 0) {
  const source = {
    world: 'home',
    readPage: async () => ({ commits: [], nextSeq: 1, end: true }),
    isQuarantined: () => false,
    hasBlobs: () => false,
    inline: async (stored: never) => stored,
  };
  const hub = new EventHub({ source, searchBack, ringEvents: 10, ringChars: 1e6, onDelay: () => undefined });
  // The journal is longer than the memory, so that a filter's past is searched for.
  hub.start({ streamSeq: 1, latestSeq: 1024 });
  const socket = new Socket();
  sockets.push(socket);
  new RpcConnection(socket as unknown as WebSocket, { kind: 'token' } as never, {
    dispatch,
    hub,
    journalId: () => 'j',
    timings: { ackHoldMs: 5000, sendTimeoutMs: 5000 },
    onEventSent: () => undefined,
    onTooSlow: () => undefined,
  });
  socket.ask(0, 'initialize', { protocolVersion: 13, client: { name: 'test', version: '1' } });
  await turn();
  return { hub, socket };
}

it('two changes of the filter at once leave the connection in the last one only', async () => {
  const searches: (() => void)[] = [];
  const dispatch: Dispatch = async (request, call) => {
    const { filter } = request.params as { filter: { threadIds: string[] } };
    return { ok: true, result: { latestSeq: await call.subscription?.change(filter) } };
  };
  const searchBack = () => new Promise<number>((resolve) => searches.push(() => resolve(0)));
  const { hub, socket } = await connect(dispatch, searchBack);
  socket.ask(1, 'event.subscribe', { filter: { threadIds: ['t1'] } });
  socket.ask(2, 'event.subscribe', { filter: { threadIds: ['t2'] } });
  while (socket.sent.filter(({ id }) => id === 1 || id === 2).length < 2) {
    await turn();
    // Searches that are under way together end together.
    for (const found of searches.splice(0)) found();
  }
  for (const [index, thread] of ['t1', 't2'].entries()) {
    const subject = `journal.home.thread.${thread}.turns`;
    const commit = commitOf(subject, thread, { events: [{ type: 'thread.renamed', payload: {} }] });
    hub.ingest({ commits: [{ streamSeq: 2 + index, subject, commit }], appliedSeq: 2 + index });
  }
  await hub.idle();
  const events = socket.sent.filter(({ method }) => method === 'event');
  expect(events.map(({ params }) => params?.threadId)).toEqual(['t2']);
});

it('answers every request in their order, few at a time, and reads no more while many are under way', async () => {
  let underWay = 0;
  let most = 0;
  const dispatch: Dispatch = async () => {
    underWay += 1;
    most = Math.max(most, underWay);
    await turn();
    underWay -= 1;
    return { ok: true, result: {} };
  };
  const { socket } = await connect(dispatch);
  for (let id = 1; id <= 300; id += 1) socket.ask(id, 'thread.list', {});
  expect(socket.isPaused).toBe(true);
  while (socket.sent.length < 301) await turn();
  await turn();
  expect(socket.sent.map(({ id }) => id)).toEqual(Array.from({ length: 301 }, (_, id) => id));
  expect(most).toBe(64);
  expect(socket.isPaused).toBe(false);
});
