import type { Connection } from '../connection/connection.ts';
import { RpcError } from '../connection/rpc-error.ts';
import type { Method, Params, Result } from '../wire/methods.ts';

/** What requests go over. */
export type LiveConnection = Pick<Connection, 'request' | 'connected' | 'retryNow'>;

let connection: LiveConnection | undefined;

export function attachConnection(live: LiveConnection): void {
  connection = live;
}

/** Sends a request over the live connection; rejects with RpcError. */
export function request<M extends Method>(method: M, params: Params<M>, timeoutMs?: number): Promise<Result<M>> {
  if (!connection) return Promise.reject(new RpcError('disconnected', 'DISCONNECTED', 'not connected'));
  return connection.request(method, params, timeoutMs);
}

export function isConnected(): boolean {
  return connection?.connected ?? false;
}

/** Tries to reconnect now instead of at the end of the wait. */
export function retryNow(): void {
  connection?.retryNow();
}
