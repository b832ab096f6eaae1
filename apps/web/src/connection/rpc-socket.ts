import type { Method, Params, Result } from '../wire/methods.ts';
import type { WireEvent } from '../wire/types.ts';
import { RpcError, rpcErrorOf } from './rpc-error.ts';

interface Pending {
  resolve: (value: unknown) => void;
  reject: (error: RpcError) => void;
  timer: ReturnType<typeof setTimeout>;
}

export interface SocketHandlers {
  onEvent: (event: WireEvent) => void;
  /** Called once; `opened` tells a refused upgrade from a connection that was lost. */
  onClose: (opened: boolean) => void;
}

const REQUEST_TIMEOUT_MS = 20_000;

/** One WebSocket that carries JSON-RPC requests and event notifications; it is never reused after it closed. */
export class RpcSocket {
  readonly opened: Promise<void>;
  lastMessageAt = Date.now();
  #socket: WebSocket;
  #pending = new Map<number, Pending>();
  #nextId = 1;
  #wasOpen = false;
  #closed = false;
  #handlers: SocketHandlers;

  constructor(url: string, key: string, handlers: SocketHandlers) {
    this.#handlers = handlers;
    this.#socket = new WebSocket(url, ['rookery.v1', `rookery.key.${key}`]);
    this.opened = new Promise((resolve, reject) => {
      this.#socket.onopen = () => {
        this.#wasOpen = true;
        resolve();
      };
      this.#socket.onclose = () => {
        reject(disconnected());
        this.#shut();
      };
    });
    this.#socket.onmessage = (message) => this.#receive(message.data);
  }

  /** Sends a request; rejects with RpcError (TIMEOUT after `timeoutMs`, DISCONNECTED, or the server's code). */
  request<M extends Method>(method: M, params: Params<M>, timeoutMs = REQUEST_TIMEOUT_MS): Promise<Result<M>> {
    if (this.#closed || this.#socket.readyState !== WebSocket.OPEN) return Promise.reject(disconnected());
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        reject(new RpcError('timeout', 'TIMEOUT', `${method} was not answered in ${timeoutMs} ms`));
      }, timeoutMs);
      this.#pending.set(id, { resolve: (value) => resolve(value as Result<M>), reject, timer });
      this.#socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    });
  }

  close(): void {
    this.#socket.close();
    this.#shut();
  }

  #receive(data: unknown): void {
    this.lastMessageAt = Date.now();
    const message = parse(data);
    if (!message) return;
    if (message.method === 'event') {
      this.#handlers.onEvent(message.params as WireEvent);
      return;
    }
    const pending = this.#pending.get(message.id as number);
    if (!pending) return;
    this.#pending.delete(message.id as number);
    clearTimeout(pending.timer);
    if (message.error) pending.reject(rpcErrorOf(message.error as object));
    else pending.resolve(message.result);
  }

  #shut(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const pending of this.#pending.values()) {
      clearTimeout(pending.timer);
      pending.reject(disconnected());
    }
    this.#pending.clear();
    this.#handlers.onClose(this.#wasOpen);
  }
}

function disconnected(): RpcError {
  return new RpcError('disconnected', 'DISCONNECTED', 'The connection to Rookery was lost.');
}

function parse(data: unknown): Record<string, unknown> | undefined {
  if (typeof data !== 'string') return undefined;
  try {
    const value: unknown = JSON.parse(data);
    return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
