import type { FastifyInstance } from 'fastify';
import type { HttpContext } from './context.ts';

const STARTING = { ready: false, reasons: ['starting'] };

/** Whether the process is up, whether it is ready, and its figures. */
export function healthRoutes(app: FastifyInstance, context: HttpContext): void {
  app.get('/healthz', { config: { access: 'public' } }, async (_request, reply) =>
    reply.header('cache-control', 'no-store').send({ status: 'up' }),
  );

  app.get('/readyz', { config: { access: 'public' } }, async (_request, reply) => {
    const readiness = context.live()?.readiness() ?? STARTING;
    return reply
      .code(readiness.ready ? 200 : 503)
      .header('cache-control', 'no-store')
      .send(readiness);
  });

  app.get('/metrics', { config: { access: 'program' } }, async (_request, reply) => {
    const live = context.live();
    const text = context.metrics.render({
      connections: live?.registry.size ?? 0,
      queueDepth: live?.registry.queueDepth ?? 0,
      readModel: live?.stats() ?? null,
      ready: live?.readiness().ready ?? false,
      house: (await live?.house()) ?? null,
    });
    return reply.type('text/plain; version=0.0.4; charset=utf-8').header('cache-control', 'no-store').send(text);
  });
}
