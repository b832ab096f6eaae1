import { AppError } from '@rookery/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type AccessFacts, decideAccess } from './access.ts';
import type { HttpContext } from './context.ts';
import { sendError } from './error-reply.ts';
import { FailureLimiter } from './failure-limiter.ts';
import { securityHeaders } from './security-headers.ts';

const FAILURES = { max: 60, windowMs: 60_000 };
const RETRY_AFTER_S = '1';

const one = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(', ') : value;

function factsOf(request: FastifyRequest): AccessFacts {
  const { headers } = request;
  const at = request.raw.url?.indexOf('?') ?? -1;
  return {
    host: headers.host,
    origin: one(headers.origin),
    authorization: headers.authorization,
    cookie: headers.cookie,
    keyHeader: one(headers['x-rookery-key']),
    protocols: one(headers['sec-websocket-protocol']),
    query: at === -1 ? '' : (request.raw.url ?? '').slice(at + 1),
  };
}

/** Checks every request of every route before anything of it is read, and before an upgrade. */
export function installGuard(app: FastifyInstance, context: HttpContext): void {
  const failures = new FailureLimiter(FAILURES);
  app.decorateRequest('principal', null);
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(securityHeaders);
    const access = request.routeOptions.config.access ?? 'page';
    const live = context.live();
    const decision = decideAccess(access, factsOf(request), context.rules, live?.tokens ?? null);
    if (!decision.ok) {
      context.metrics.refusals += 1;
      if (decision.status === 503) return sendError(reply.header('retry-after', RETRY_AFTER_S), decision.error, 503);
      // Counted with loopback: a local program can try passwords as well as a remote one.
      const tooMany = decision.error.code === 'UNAUTHORIZED' && failures.note(request.ip, Date.now());
      context.log.info({ route: request.routeOptions.url, reason: decision.error.details.reason, tooMany }, 'refused');
      return tooMany
        ? sendError(reply, new AppError('RATE_LIMITED'))
        : sendError(reply, decision.error, decision.status);
    }
    request.principal = decision.principal;
    if (access === 'public') return undefined;
    const failure =
      live === null ? new AppError('SERVICE_UNAVAILABLE', { details: { starting: true } }) : live.failure();
    return failure === null ? undefined : sendError(reply.header('retry-after', RETRY_AFTER_S), failure, 503);
  });
}

/** The live part behind a route that passed the guard. */
export function requireLive(context: HttpContext) {
  const live = context.live();
  if (live === null) throw new AppError('SERVICE_UNAVAILABLE', { details: { starting: true } });
  return live;
}

export function requirePrincipal(request: FastifyRequest) {
  if (request.principal === null) throw new AppError('UNAUTHORIZED');
  return request.principal;
}
