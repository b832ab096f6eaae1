import type { WireEvent } from '@rookery/protocol';
import { sleep } from './eventually.ts';
import { type ClientOptions, connectClient, type RpcClient } from './rpc-client.ts';

export interface FollowingClient {
  /** Every event once, in order, over all connections. */
  events: WireEvent[];
  /** How often it connected. */
  connections(): number;
  /** The connection of now; waits for the next one while there is none. */
  current(): Promise<RpcClient>;
  /** Seqs at which the server's prevSeq showed a gap, or an order that is none: empty when all is well. */
  faults: string[];
  stop(): Promise<void>;
}

export interface FollowingOptions extends Omit<ClientOptions, 'url' | 'onEvent'> {
  /** Asked at each connection, as the address may change. */
  url: () => string;
  /** Position to begin after; the default is the beginning. */
  afterSeq?: number;
  onEvent?: (event: WireEvent) => void;
}

interface ReplayPage {
  events: WireEvent[];
  nextAfterSeq: number;
  hasMore: boolean;
}

/**
 * A client as the page is one: it connects again for ever, replays what it missed, never crosses a gap and
 * drops overlaps.
 */
export function followEvents(options: FollowingOptions): FollowingClient {
  const events: WireEvent[] = [];
  const faults: string[] = [];
  let lastSeq = options.afterSeq ?? 0;
  let connections = 0;
  let stopped = false;
  let client: RpcClient | null = null;
  let waiters: ((client: RpcClient) => void)[] = [];

  const take = (event: WireEvent) => {
    if (event.seq <= lastSeq) return;
    lastSeq = event.seq;
    events.push(event);
    options.onEvent?.(event);
  };

  const replay = async (connection: RpcClient) => {
    for (;;) {
      const page = await connection.request<ReplayPage>('event.replay', { afterSeq: lastSeq, limit: 1000 });
      for (const event of page.events) take(event);
      if (!page.hasMore) return;
    }
  };

  const follow = async (connection: RpcClient, live: WireEvent[]) => {
    let ended = false;
    void connection.closed.then(() => {
      ended = true;
    });
    let next = 0;
    await replay(connection);
    while (!ended && !stopped) {
      for (; next < live.length; next += 1) {
        const event = live[next] as WireEvent;
        if (event.seq <= lastSeq) continue;
        if (event.prevSeq !== undefined && event.prevSeq > lastSeq) {
          await replay(connection);
          if (event.prevSeq > lastSeq) faults.push(`gap before ${event.seq}: ${event.prevSeq} > ${lastSeq}`);
        }
        take(event);
      }
      await sleep(5);
    }
  };

  const loop = async () => {
    while (!stopped) {
      try {
        const connection = await connectClient({ ...options, url: options.url(), onEvent: () => {} });
        connections += 1;
        client = connection;
        for (const waiter of waiters) waiter(connection);
        waiters = [];
        await follow(connection, connection.events);
        client = null;
        await connection.close();
      } catch {
        client = null;
      }
      if (!stopped) await sleep(50);
    }
  };
  const running = loop();
  return {
    events,
    faults,
    connections: () => connections,
    current: () => (client !== null ? Promise.resolve(client) : new Promise((resolve) => waiters.push(resolve))),
    stop: async () => {
      stopped = true;
      await client?.close().catch(() => {});
      await running;
    },
  };
}
