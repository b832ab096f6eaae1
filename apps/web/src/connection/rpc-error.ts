/** Why a request has no result: refused by the server, unanswered in time, or cut off with the connection. */
export type RpcFailure = 'refused' | 'timeout' | 'disconnected';

/** A request that failed. `code` is the server's stable code, or TIMEOUT / DISCONNECTED made here. */
export class RpcError extends Error {
  readonly failure: RpcFailure;
  readonly code: string;

  constructor(failure: RpcFailure, code: string, message: string) {
    super(message);
    this.name = 'RpcError';
    this.failure = failure;
    this.code = code;
  }

  /** True where the server may have stored the request although no answer came. */
  get unconfirmed(): boolean {
    return this.failure !== 'refused' || this.code === 'JOURNAL_AMBIGUOUS';
  }
}

interface ErrorBody {
  code?: unknown;
  message?: unknown;
  data?: { code?: unknown; reasonCode?: unknown };
}

/** A JSON-RPC error object as an RpcError. */
export function rpcErrorOf(body: ErrorBody): RpcError {
  const named = [body.data?.code, body.data?.reasonCode].find((value) => typeof value === 'string');
  const code = typeof named === 'string' ? named : `RPC_${String(body.code)}`;
  return new RpcError('refused', code, typeof body.message === 'string' ? body.message : code);
}
