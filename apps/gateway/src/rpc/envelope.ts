import { AppError } from '@rookery/protocol';

export type RpcId = string | number;

export interface RpcRequest {
  id: RpcId;
  method: string;
  params: Record<string, unknown>;
}

export type ReadRequest = { ok: true; request: RpcRequest } | { ok: false; id: RpcId | null; error: AppError };

const KEYS = new Set(['jsonrpc', 'id', 'method', 'params']);
const MAX_ID_CHARS = 200;
const MAX_METHOD_CHARS = 100;

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

const isId = (value: unknown): value is RpcId =>
  (typeof value === 'string' && value.length <= MAX_ID_CHARS) ||
  (typeof value === 'number' && Number.isSafeInteger(value));

/** Reads one JSON-RPC 2.0 request; batches and notifications are refused, as every request here has an answer. */
export function readRequest(value: unknown): ReadRequest {
  const id = isObject(value) && isId(value.id) ? value.id : null;
  const refuse = (reason: string, code: 'INVALID_REQUEST' | 'INVALID_PARAMS' = 'INVALID_REQUEST'): ReadRequest => ({
    ok: false,
    id,
    error: new AppError(code, { details: { reason } }),
  });
  if (Array.isArray(value)) return refuse('batch_not_supported');
  if (!isObject(value)) return refuse('not_an_object');
  if (value.jsonrpc !== '2.0') return refuse('jsonrpc_version');
  if (id === null) return refuse('id_required');
  const { method, params = {} } = value;
  if (typeof method !== 'string' || method === '' || method.length > MAX_METHOD_CHARS) return refuse('method_required');
  if (Object.keys(value).some((key) => !KEYS.has(key))) return refuse('unknown_key');
  if (!isObject(params)) return refuse('params_must_be_an_object', 'INVALID_PARAMS');
  return { ok: true, request: { id, method, params } };
}
