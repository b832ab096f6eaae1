import rateLimit from '@fastify/rate-limit';
import websocket from '@fastify/websocket';
import { AppError, limits } from '@rookery/protocol';
import { logError } from '@rookery/service';
import Fastify, { type FastifyInstance, type RouteOptions } from 'fastify';
import { authRoutes } from './auth-routes.ts';
import type { HttpContext } from './context.ts';
import { httpError, sendError } from './error-reply.ts';
import { installGuard } from './guard.ts';
import { healthRoutes } from './health-routes.ts';
import { hookRoutes } from './hook-routes.ts';
import { rpcRoutes } from './rpc-routes.ts';
import { webRoutes } from './web-routes.ts';

const WEBSOCKET_PROTOCOL = 'rookery.v1';
const REQUEST_MS = 30_000;
const UPGRADE_REFUSED = 404;

export interface HttpServer {
  app: FastifyInstance;
  /** Every route as `METHOD url`, also those that plugins add. */
  routes: { method: string; url: string; websocket: boolean }[];
}

/** The gateway's HTTP server with all its routes, not listening yet. */
export async function buildServer(context: HttpContext): Promise<HttpServer> {
  const app = Fastify({
    logger: false,
    bodyLimit: limits.rpcMessageBytes,
    requestTimeout: REQUEST_MS,
    // Only the declared proxy itself may say whom it speaks for.
    trustProxy: context.rules.trustedProxy ? (_address: string, hop: number) => hop === 0 : false,
    forceCloseConnections: true,
    return503OnClosing: true,
    routerOptions: { maxParamLength: 200 },
  });
  const routes: HttpServer['routes'] = [];
  app.addHook('onRoute', (route: RouteOptions) => {
    for (const method of [route.method].flat()) {
      routes.push({ method, url: route.url, websocket: route.wsHandler !== undefined });
    }
  });
  // Before the guard: the plugin ends the sockets of upgrades that the guard refuses.
  await app.register(websocket, {
    options: {
      maxPayload: limits.rpcMessageBytes,
      perMessageDeflate: false,
      handleProtocols: (offered: Set<string>) => (offered.has(WEBSOCKET_PROTOCOL) ? WEBSOCKET_PROTOCOL : false),
    },
    // Connections are closed by their registry, with a reason.
    preClose: (done) => done(),
    errorHandler: (_error, socket) => socket.terminate(),
  });
  installGuard(app, context);
  app.setErrorHandler((thrown: Error, _request, reply) => {
    const { error, status } = httpError(thrown);
    if (error.code === 'INTERNAL') logError(context.log, 'request failed', error);
    return sendError(reply, error, status);
  });
  app.addHook('onResponse', async (request, reply) => {
    context.metrics.http(request.routeOptions.url ?? 'none', reply.statusCode);
  });

  // Bodies stay text: what is read of them is read by the strict parser, and nothing but JSON is read at all.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => done(null, body));

  await app.register(rateLimit, { global: false, errorResponseBuilder: () => new AppError('RATE_LIMITED') });
  app.addHook('onRequest', async (request, reply) => {
    if (request.ws && !routes.some((route) => route.websocket && route.url === request.routeOptions.url)) {
      return sendError(
        reply,
        new AppError('INVALID_REQUEST', { details: { reason: 'no_websocket_here' } }),
        UPGRADE_REFUSED,
      );
    }
    return undefined;
  });
  healthRoutes(app, context);
  authRoutes(app, context);
  hookRoutes(app, context);
  rpcRoutes(app, context);
  await webRoutes(app, context);
  app.setNotFoundHandler((_request, reply) =>
    sendError(reply, new AppError('METHOD_NOT_FOUND', { message: 'There is nothing at this address.' }), 404),
  );
  await app.ready();
  return { app, routes };
}
