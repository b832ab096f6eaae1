import {
  AppError,
  newMethods,
  type RpcMethod,
  type RpcParams,
  rpcMethods,
  rpcParams,
  toAppError,
} from '@rookery/protocol';
import type { RpcCall } from './call.ts';
import type { RpcRequest } from './envelope.ts';

export type ServedMethod = Exclude<RpcMethod, 'initialize'>;
export type Handler<M extends ServedMethod> = (params: RpcParams<M>, call: RpcCall) => Promise<unknown>;
export type Handlers = { [M in ServedMethod]: Handler<M> };

export interface DispatcherPorts {
  handlers: Handlers;
  /** True where a value holds a protected one. */
  isProtected: (value: unknown) => boolean;
  onDone: (done: { method: string; code: string | null; ms: number; error: unknown }) => void;
}

export type Outcome = { ok: true; result: unknown } | { ok: false; error: AppError };

const NEW = new Set<string>(newMethods);
const SERVED = new Set<string>(rpcMethods);
/** Parameters that are meant to hold a key; they are checked against nothing. */
const KEY_FIELDS: Partial<Record<RpcMethod, readonly string[]>> = {
  'provider.configure': ['apiKey', 'headers'],
  'provider.discover_models': ['apiKey', 'headers'],
  'channel.configure': ['secret'],
};
const FIRST_NEW_PROTOCOL = 13;

function isServed(method: string, protocol: number): method is ServedMethod {
  return SERVED.has(method) && (protocol >= FIRST_NEW_PROTOCOL || !NEW.has(method));
}

/** Checks the parameters of a method; INVALID_PARAMS names where they fail, never what they hold. */
export function readParams<M extends ServedMethod>(
  method: M,
  params: Record<string, unknown>,
  protocol: number,
): RpcParams<M> {
  if (protocol < FIRST_NEW_PROTOCOL && method === 'event.replay' && 'filter' in params) {
    throw new AppError('INVALID_PARAMS', { details: { path: 'filter', issue: 'unknown key' } });
  }
  const checked = rpcParams[method].safeParse(params);
  if (checked.success) return checked.data as RpcParams<M>;
  const [issue] = checked.error.issues;
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys : [];
  throw new AppError('INVALID_PARAMS', {
    details: { path: [...(issue?.path ?? []), ...unknown].join('.'), issue: issue?.code ?? 'invalid' },
  });
}

function holdsProtected(request: RpcRequest, isProtected: DispatcherPorts['isProtected']): boolean {
  const exempt = KEY_FIELDS[request.method as RpcMethod] ?? [];
  return Object.entries(request.params).some(([key, value]) => !exempt.includes(key) && isProtected(value));
}

/** Serves requests of initialized clients: finds the method, checks the parameters, runs it, and never throws. */
export function createDispatcher({ handlers, isProtected, onDone }: DispatcherPorts) {
  const run = async (request: RpcRequest, call: RpcCall): Promise<unknown> => {
    const { method } = request;
    if (!isServed(method, call.protocol)) throw new AppError('METHOD_NOT_FOUND');
    if (holdsProtected(request, isProtected)) throw new AppError('SECRET_REFUSED');
    const handler = handlers[method] as Handler<ServedMethod>;
    return await handler(readParams(method, request.params, call.protocol), call);
  };

  return async (request: RpcRequest, call: RpcCall): Promise<Outcome> => {
    const started = performance.now();
    const method = SERVED.has(request.method) ? request.method : 'unknown';
    try {
      const result = await run(request, call);
      onDone({ method, code: null, ms: performance.now() - started, error: null });
      return { ok: true, result };
    } catch (thrown) {
      const error = toAppError(thrown);
      onDone({ method, code: error.code, ms: performance.now() - started, error: thrown });
      return { ok: false, error };
    }
  };
}

export type Dispatch = ReturnType<typeof createDispatcher>;
