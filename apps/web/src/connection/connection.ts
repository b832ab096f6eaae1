import type { Method, Params, Result } from '../wire/methods.ts';
import type { WireEvent } from '../wire/types.ts';
import { isOffline, reconnectDelay } from './backoff.ts';
import { EventFeed } from './event-feed.ts';
import { RpcError } from './rpc-error.ts';
import { RpcSocket } from './rpc-socket.ts';

export type ConnectionStatus = 'connecting' | 'connected' | 'reconnecting' | 'offline' | 'locked';

export interface ConnectionPorts {
  key: () => string | null;
  /** False where the server refuses the key; an unreachable server counts as true. */
  keyAccepted: () => Promise<boolean>;
  status: (status: ConnectionStatus) => void;
  apply: (events: readonly WireEvent[]) => void;
  /** Loads everything anew and returns the seq that the lists stand at. */
  load: () => Promise<number>;
}

const QUIET_MS = 25_000;
const PROBE_TIMEOUT_MS = 8000;
const INITIALIZE = { protocolVersion: 13, client: { name: 'rookery-web', version: '0.1.0' } } as const;

/** Keeps one live connection to the gateway: initialize, lists or replay, then live events; reconnects for ever. */
export class Connection {
  #ports: ConnectionPorts;
  #socket: RpcSocket | undefined;
  #feed: EventFeed | undefined;
  #journalId: string | undefined;
  #attempt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ready = false;
  #stopped = false;

  constructor(ports: ConnectionPorts) {
    this.#ports = ports;
    setInterval(() => this.#probe(), QUIET_MS / 2);
    addEventListener('online', () => this.retryNow());
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) this.retryNow();
    });
  }

  get connected(): boolean {
    return this.#ready;
  }

  start(): void {
    this.#stopped = false;
    this.#ports.status('connecting');
    this.#open();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
  }

  /** Skips the rest of a backoff wait. */
  retryNow(): void {
    if (this.#timer === undefined || this.#stopped) return;
    clearTimeout(this.#timer);
    this.#open();
  }

  request<M extends Method>(method: M, params: Params<M>, timeoutMs?: number): Promise<Result<M>> {
    if (!this.#socket) return Promise.reject(new RpcError('disconnected', 'DISCONNECTED', 'not connected'));
    return this.#socket.request(method, params, timeoutMs);
  }

  #open(): void {
    this.#timer = undefined;
    const key = this.#ports.key();
    if (!key) {
      this.#lock();
      return;
    }
    const url = `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/rpc`;
    const socket = new RpcSocket(url, key, {
      onEvent: (event) => this.#feed?.push(event),
      onClose: (opened) => this.#lost(socket, opened),
    });
    this.#socket = socket;
    this.#feed?.dropBuffer();
    this.#greet(socket).catch(() => socket.close());
  }

  async #greet(socket: RpcSocket): Promise<void> {
    await socket.opened;
    const { journalId } = await socket.request('initialize', INITIALIZE);
    const sameJournal = this.#journalId === undefined || this.#journalId === journalId;
    this.#journalId = journalId;
    if (this.#feed && sameJournal) await this.#feed.resume();
    else await this.#loadAll(socket);
    if (this.#socket !== socket) return;
    this.#attempt = 0;
    this.#ready = true;
    this.#ports.status('connected');
  }

  async #loadAll(socket: RpcSocket): Promise<void> {
    const feed = new EventFeed({
      replay: (afterSeq) => this.request('event.replay', { afterSeq, limit: 500 }),
      apply: this.#ports.apply,
      restart: () => {
        this.#feed = undefined;
        socket.close();
      },
    });
    this.#feed = feed;
    try {
      await feed.begin(await this.#ports.load());
    } catch (error) {
      if (this.#feed === feed) this.#feed = undefined;
      throw error;
    }
  }

  #lost(socket: RpcSocket, opened: boolean): void {
    if (socket !== this.#socket || this.#stopped) return;
    this.#ready = false;
    this.#socket = undefined;
    if (!opened) void this.#checkKey();
    const wait = reconnectDelay(this.#attempt);
    this.#attempt += 1;
    this.#ports.status(isOffline(this.#attempt) ? 'offline' : 'reconnecting');
    this.#timer = setTimeout(() => this.#open(), wait);
  }

  /** A browser does not tell a refused upgrade from an unreachable server, so the page asks over HTTP. */
  async #checkKey(): Promise<void> {
    if (!(await this.#ports.keyAccepted())) this.#lock();
  }

  #lock(): void {
    this.stop();
    this.#ports.status('locked');
  }

  /** A half-open connection gives no close event; after a quiet spell a small request finds out. */
  #probe(): void {
    const socket = this.#socket;
    if (!this.#ready || !socket || Date.now() - socket.lastMessageAt < QUIET_MS) return;
    socket
      .request('event.replay', { afterSeq: this.#feed?.lastSeq ?? 0, limit: 1 }, PROBE_TIMEOUT_MS)
      .catch((error: unknown) => {
        if (error instanceof RpcError && error.failure === 'timeout') socket.close();
      });
  }
}
