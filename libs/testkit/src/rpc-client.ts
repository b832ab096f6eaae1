import type { WireEvent } from '@rookery/protocol';
import WebSocket from 'ws';

export interface ClientOptions {
  /** http://host:port of the gateway. */
  url: string;
  token: string;
  protocolVersion?: number;
  headers?: Record<string, string>;
  /** Called for each event as it arrives, after it was added to `events`. */
  onEvent?: (event: WireEvent) => void;
}

/** A refusal as it came over the wire. */
export class RpcError extends Error {
  readonly rpcCode: number;
  /** Our own error code, empty where the answer had none. */
  readonly code: string;
  readonly data: Record<string, unknown>;

  constructor(error: { code: number; message: string; data?: Record<string, unknown> }) {
    super(error.message);
    this.name = 'RpcError';
    this.rpcCode = error.code;
    this.data = error.data ?? {};
    this.code = typeof this.data.code === 'string' ? this.data.code : '';
  }
}

/** The connection ended before an answer came: whether the request was done is unknown. */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost';
}

export interface RpcClient {
  /** Result of initialize. */
  server: Record<string, unknown>;
  events: WireEvent[];
  socket: WebSocket;
  request<T = Record<string, unknown>>(method: string, params?: unknown, timeoutMs?: number): Promise<T>;
  /** Resolves when the connection has ended. */
  closed: Promise<{ code: number; reason: string }>;
  close(): Promise<void>;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** Connects to /rpc with a token and initializes; rejects where the upgrade or initialize is refused. */
export async function connectClient(options: ClientOptions): Promise<RpcClient> {
  const socket = new WebSocket(`${options.url.replace(/^http/, 'ws')}/rpc`, {
    headers: { authorization: `Bearer ${options.token}`, ...options.headers },
    perMessageDeflate: false,
  });
  const waiting = new Map<number, Waiting>();
  const events: WireEvent[] = [];
  let last = 0;

  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => {
      for (const { reject } of waiting.values()) reject(new ConnectionLost(`closed with ${code}`));
      waiting.clear();
      resolve({ code, reason: reason.toString() });
    });
  });
  socket.on('error', () => {});
  socket.on('message', (data) => {
    const message = JSON.parse(data.toString());
    if (message.method === 'event') {
      events.push(message.params);
      options.onEvent?.(message.params);
      return;
    }
    const entry = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error) entry?.reject(new RpcError(message.error));
    else entry?.resolve(message.result);
  });

  const request = <T>(method: string, params: unknown = {}, timeoutMs = 30_000) =>
    new Promise<T>((resolve, reject) => {
      if (socket.readyState !== WebSocket.OPEN) return reject(new ConnectionLost('not connected'));
      last += 1;
      const id = last;
      const timer = setTimeout(() => {
        waiting.delete(id);
        reject(new ConnectionLost(`${method} was not answered in ${timeoutMs} ms`));
      }, timeoutMs);
      waiting.set(id, {
        resolve: (result) => {
          clearTimeout(timer);
          resolve(result as T);
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      });
      return socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    });

  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', (error) => reject(new ConnectionLost(error.message)));
  });
  const server = await request<Record<string, unknown>>('initialize', {
    protocolVersion: options.protocolVersion ?? 13,
    client: { name: 'testkit', version: '0.1.0' },
  });
  return {
    server,
    events,
    socket,
    request,
    closed,
    close: async () => {
      socket.close();
      const timer = setTimeout(() => socket.terminate(), 1000);
      await closed;
      clearTimeout(timer);
    },
  };
}
