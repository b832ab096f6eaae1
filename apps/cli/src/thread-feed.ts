import { AppError, type WireEvent } from '@rookery/protocol';
import { ConnectionLost, openSocket, type RpcSocket } from './rpc-socket.ts';

export interface ThreadFeed {
  /**
   * Asks the gateway, again over the next connection where one was lost: only for what may be repeated.
   * Throws the gateway's own AppError.
   */
  request<T>(method: string, params?: unknown): Promise<T>;
  /** From now on hands over the thread's events behind `afterSeq`, each once and in order, over any reconnect. */
  follow(threadId: string, afterSeq: number): Promise<void>;
  /** Resolves after `stop`; rejects where the gateway stays away. */
  done: Promise<void>;
  stop(): void;
}

export interface FeedOptions {
  onEvent(event: WireEvent): void;
  /** A sentence about the connection for a person. */
  onStatus(text: string): void;
  /** How long the gateway may be away in the middle, in milliseconds. */
  patienceMs?: number;
}

interface Page {
  events: WireEvent[];
  nextAfterSeq: number;
  hasMore: boolean;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Connects and keeps the connection; the first connection must succeed at once. */
export async function openFeed(options: FeedOptions): Promise<ThreadFeed> {
  const patienceMs = options.patienceMs ?? 120_000;
  let thread: { id: string; lastSeq: number } | null = null;
  let stopped = false;
  let queue: WireEvent[] = [];
  let catching = false;
  let socket: RpcSocket | null = null;
  /** Where events come from and gaps are filled: set before the first event of a connection is taken. */
  let source: RpcSocket | null = null;
  let waiters: { resolve(socket: RpcSocket): void; reject(error: Error): void }[] = [];
  let finish: { resolve(): void; reject(error: Error): void } = { resolve() {}, reject() {} };
  const done = new Promise<void>((resolve, reject) => {
    finish = { resolve, reject };
  });
  done.catch(() => {});

  const take = (event: WireEvent) => {
    if (thread === null || event.seq <= thread.lastSeq) return;
    thread.lastSeq = event.seq;
    options.onEvent(event);
  };

  const onLive = (event: WireEvent) => {
    if (thread === null || event.threadId !== thread.id) return;
    queue.push(event);
    if (!catching) void drain();
  };

  /** Takes what is queued; where the server says that something lies between, replays first. */
  const drain = async () => {
    catching = true;
    const connection = source;
    try {
      for (let event = queue.shift(); event !== undefined; event = queue.shift()) {
        if (thread !== null && connection !== null && (event.prevSeq ?? 0) > thread.lastSeq) await replay(connection);
        take(event);
      }
    } catch {
      // The connection ended, or the gateway refused the replay. Either way the event is not taken, and nothing may come
      // after it: the next connection replays from the last event that was taken, or says why it cannot.
      connection?.close();
    } finally {
      catching = false;
    }
  };

  const replay = async (connection: RpcSocket) => {
    if (thread === null) return;
    const filter = { threadIds: [thread.id] };
    for (;;) {
      const page = await connection.request<Page>('event.replay', { afterSeq: thread.lastSeq, limit: 1000, filter });
      for (const event of page.events) take(event);
      // A page may hold no event of this thread and still not be the last.
      thread.lastSeq = Math.max(thread.lastSeq, page.hasMore ? page.nextAfterSeq : 0);
      if (!page.hasMore) return;
    }
  };

  const attach = async (connection: RpcSocket) => {
    if (thread === null) return;
    queue = [];
    source = connection;
    catching = true;
    try {
      await connection.request('event.subscribe', { filter: { threadIds: [thread.id] } });
      await replay(connection);
    } finally {
      catching = false;
    }
    void drain();
  };

  const keep = async (first: RpcSocket) => {
    let connection = first;
    for (;;) {
      await connection.ended;
      socket = null;
      if (stopped) return;
      options.onStatus('connection lost, connecting again');
      const deadline = performance.now() + patienceMs;
      for (let wait = 100; ; wait = Math.min(wait * 2, 2000)) {
        try {
          connection = await openSocket(onLive);
          await attach(connection);
          break;
        } catch (error) {
          connection.close();
          if (stopped) return;
          const final = error instanceof AppError && error.retry === 'never';
          if (final || performance.now() > deadline) throw error;
          await pause(wait);
        }
      }
      // What ends the work may have come with the replay, before this connection could be closed by `stop`.
      if (stopped) return connection.close();
      options.onStatus('connected again');
      socket = connection;
      for (const waiter of waiters) waiter.resolve(connection);
      waiters = [];
    }
  };

  socket = await openSocket(onLive);
  void keep(socket).then(
    () => finish.resolve(),
    (error: Error) => {
      for (const waiter of waiters) waiter.reject(error);
      waiters = [];
      finish.reject(error);
    },
  );

  const connected = (): Promise<RpcSocket> =>
    socket !== null ? Promise.resolve(socket) : new Promise((resolve, reject) => waiters.push({ resolve, reject }));

  const request = async <T>(method: string, params: unknown = {}): Promise<T> => {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const connection = await connected();
      try {
        return await connection.request<T>(method, params);
      } catch (error) {
        const again =
          error instanceof ConnectionLost || (error instanceof AppError && error.retry !== 'never' && !stopped);
        if (!again || performance.now() > deadline) throw error;
        if (!(error instanceof ConnectionLost)) await pause(500);
        else await connection.ended.then(() => pause(10));
      }
    }
  };

  return {
    request,
    follow: async (id, afterSeq) => {
      thread = { id, lastSeq: afterSeq };
      const connection = await connected();
      await attach(connection).catch((error: unknown) => {
        const again = error instanceof ConnectionLost || (error instanceof AppError && error.retry !== 'never');
        if (!again) throw error;
        // The next connection follows the thread.
        connection.close();
      });
    },
    done,
    stop: () => {
      stopped = true;
      socket?.close();
      finish.resolve();
    },
  };
}
