import { errorTable, type Retry } from '@rookery/protocol';

/** Why a request has no result: refused by the server, unanswered in time, or cut off with the connection. */
export type RpcFailure = 'refused' | 'timeout' | 'disconnected';

/** A request that failed. `code` is the server's stable code, or TIMEOUT / DISCONNECTED made here. */
export class RpcError extends Error {
  readonly failure: RpcFailure;
  readonly code: string;
  /** Whether the server says that the same request may be sent again. */
  readonly retry: Retry;

  constructor(failure: RpcFailure, code: string, message: string, retry: Retry = 'after-check') {
    super(message);
    this.name = 'RpcError';
    this.failure = failure;
    this.code = code;
    this.retry = retry;
  }

  /**
   * True where the request may be stored although no answer says so, or may be taken when it is sent again: then the
   * same one, with its request id, is to be repeated. A new one could be stored beside it.
   */
  get unconfirmed(): boolean {
    return this.failure !== 'refused' || this.retry !== 'never';
  }
}

interface ErrorBody {
  code?: unknown;
  message?: unknown;
  data?: { code?: unknown; reasonCode?: unknown; retry?: unknown };
}

/** A JSON-RPC error object as an RpcError. */
export function rpcErrorOf(body: ErrorBody): RpcError {
  const named = [body.data?.code, body.data?.reasonCode].find((value) => typeof value === 'string');
  const code = typeof named === 'string' ? named : `RPC_${String(body.code)}`;
  return new RpcError('refused', code, typeof body.message === 'string' ? body.message : code, retryOf(code, body));
}

const INTERNAL_RPC = -32603;

/** What the server says of repeating it, else what the table says; a code that nobody knows is a refusal. */
function retryOf(code: string, { code: rpc, data }: ErrorBody): Retry {
  const said = data?.retry;
  if (said === 'never' || said === 'safe' || said === 'after-check') return said;
  if (Object.hasOwn(errorTable, code)) return errorTable[code as keyof typeof errorTable].retry;
  return rpc === INTERNAL_RPC ? 'after-check' : 'never';
}
