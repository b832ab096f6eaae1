import { AppError } from '@rookery/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { parseStrictJson } from '../rpc/strict-json.ts';
import { SESSION_COOKIE } from './access.ts';
import type { HttpContext } from './context.ts';
import { requireLive, requirePrincipal } from './guard.ts';

const exchangeBody = z.strictObject({ code: z.string().min(1).max(200) });
const EXCHANGES = { max: 30, timeWindow: 60_000 };

const isSecure = (request: FastifyRequest, context: HttpContext): boolean =>
  context.rules.trustedProxy && request.protocol === 'https';

function setCookie(reply: FastifyReply, value: string, maxAgeSeconds: number, secure: boolean): void {
  const parts = [`${SESSION_COOKIE}=${value}`, 'Path=/', 'HttpOnly', 'SameSite=Strict', `Max-Age=${maxAgeSeconds}`];
  reply.header('set-cookie', [...parts, ...(secure ? ['Secure'] : [])].join('; '));
}

/** Trading a one-time code for a session, and giving the session up. */
export function authRoutes(app: FastifyInstance, context: HttpContext): void {
  app.post('/auth/exchange', { config: { access: 'public', rateLimit: EXCHANGES } }, async (request, reply) => {
    const body = exchangeBody.safeParse(parseStrictJson(String(request.body ?? '')));
    if (!body.success) throw new AppError('INVALID_PARAMS');
    const session = await requireLive(context).tokens.exchange(body.data.code);
    if (session === null) throw new AppError('UNAUTHORIZED', { details: { reason: 'code' } });
    setCookie(reply, session.cookie, session.maxAgeSeconds, isSecure(request, context));
    return reply.header('cache-control', 'no-store').send({ key: session.key });
  });

  app.post('/auth/logout', async (request, reply) => {
    await requireLive(context).tokens.endSession(requirePrincipal(request));
    setCookie(reply, '', 0, isSecure(request, context));
    return reply.code(204).send();
  });
}
