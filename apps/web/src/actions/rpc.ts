import type { Connection } from '../connection/connection.ts';
import { RpcError } from '../connection/rpc-error.ts';
import type { Method, Params, Result } from '../wire/methods.ts';

let connection: Connection | undefined;

export function attachConnection(live: Connection): void {
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
