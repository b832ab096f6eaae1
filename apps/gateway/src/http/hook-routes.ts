import { AppError, type HookReceive, hookReceiveSchema, limits } from '@rookery/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseStrictJson } from '../rpc/strict-json.ts';
import { bearerOf } from './access.ts';
import type { HttpContext } from './context.ts';
import { requireLive } from './guard.ts';

const DELIVERIES = { max: 600, timeWindow: 60_000 };
const ACCEPTED = 202;

type HookRequest = FastifyRequest<{ Params: { name: string } }>;

function header(request: FastifyRequest, name: string): string | null {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

function readHook(request: HookRequest): HookReceive {
  const hook = hookReceiveSchema.safeParse({
    name: request.params.name,
    secret: bearerOf(request.headers.authorization) ?? header(request, 'x-hook-secret'),
    deliveryId: header(request, 'x-delivery-id') ?? header(request, 'idempotency-key'),
    body: parseStrictJson(String(request.body ?? '')),
  });
  if (hook.success) return hook.data;
  const [issue] = hook.error.issues;
  throw new AppError('INVALID_PARAMS', {
    details: { path: issue?.path.join('.') ?? '', issue: issue?.code ?? 'invalid' },
  });
}

/** Deliveries from outside. They show the hook's own secret, which the channels service knows and checks. */
export function hookRoutes(app: FastifyInstance, context: HttpContext): void {
  app.post<{ Params: { name: string } }>(
    '/hooks/:name',
    {
      bodyLimit: limits.hookBodyBytes,
      config: {
        access: 'hook',
        rateLimit: {
          ...DELIVERIES,
          // With the address: who does not know the secret must not use up the deliveries of who does.
          keyGenerator: (request: FastifyRequest) => `hook:${request.ip}:${(request as HookRequest).params.name}`,
        },
      },
    },
    async (request, reply) => {
      const live = requireLive(context);
      if (bearerOf(request.headers.authorization) === null && header(request, 'x-hook-secret') === null) {
        throw new AppError('HOOK_REFUSED');
      }
      const hook = readHook(request);
      if (live.redactor.contains(hook.body)) throw new AppError('SECRET_REFUSED');
      const result = await live.sender.send({ service: 'channels', method: 'hook.receive', params: hook }, null);
      const { threadId, turnId, runId } = result as Record<string, unknown>;
      return reply.code(ACCEPTED).header('cache-control', 'no-store').send({ accepted: true, threadId, turnId, runId });
    },
  );
}
