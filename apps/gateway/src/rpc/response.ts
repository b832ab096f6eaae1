import { type AppError, errorTable, type Retry } from '@rookery/protocol';
import type { RpcId } from './envelope.ts';

/** A result that is JSON text already, so that replayed events are not parsed and written again. */
export class RawJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export interface RpcErrorBody {
  code: number;
  message: string;
  data: { code: string; retry: Retry; reasonCode?: string; details?: Record<string, unknown> };
}

const MEMORY_OPERATION = -32020;

/** An error as JSON-RPC clients see it. What went wrong inside (INTERNAL) shows no more than that. */
export function rpcErrorBody(error: AppError): RpcErrorBody {
  const row = errorTable[error.code];
  const reason = 'reason' in row ? (row.reason as string) : undefined;
  const details = error.code === 'INTERNAL' ? {} : error.details;
  return {
    code: row.rpc,
    // The document has one sentence for all of these; their reasonCode tells them apart.
    message:
      row.rpc === MEMORY_OPERATION ? 'memory operation failed' : error.code === 'INTERNAL' ? row.en : error.message,
    data: {
      code: error.code,
      retry: error.retry,
      ...(reason === undefined ? {} : { reasonCode: reason }),
      ...(Object.keys(details).length === 0 ? {} : { details }),
    },
  };
}

export function resultText(id: RpcId, result: unknown): string {
  const body = result instanceof RawJson ? result.text : JSON.stringify(result ?? null);
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${body}}`;
}

export function errorText(id: RpcId | null, error: AppError): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: rpcErrorBody(error) });
}
