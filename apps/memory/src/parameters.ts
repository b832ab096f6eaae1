import { AppError, type RpcMethod, type RpcParams, rpcParams } from '@rookery/protocol';

/** Parameters as their schema makes them; INVALID_PARAMS names the first that does not fit, without its value. */
export function parseParams<M extends RpcMethod>(method: M, params: unknown): RpcParams<M> {
  const parsed = rpcParams[method].safeParse(params);
  if (parsed.success) return parsed.data as RpcParams<M>;
  throw new AppError('INVALID_PARAMS', { details: { path: parsed.error.issues[0]?.path.join('.') ?? '' } });
}
