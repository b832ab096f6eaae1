import { existsSync } from 'node:fs';
import { join, sep } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, RouteOptions } from 'fastify';
import type { HttpContext } from './context.ts';

const NOT_BUILT = 'The web client is not built here. Run `npm run build`, or use `npx rookery exec`.\n';

/** The page and its files. Its addresses are fragments, so that every other path is one that does not exist. */
export async function webRoutes(app: FastifyInstance, { webRoot }: HttpContext): Promise<void> {
  if (!existsSync(join(webRoot, 'index.html'))) {
    app.get('/', { config: { access: 'public' } }, async (_request, reply) =>
      reply.code(503).type('text/plain').send(NOT_BUILT),
    );
    return;
  }
  await app.register(async (files) => {
    files.addHook('onRoute', (route: RouteOptions) => {
      route.config = { ...route.config, access: 'public' };
    });
    await files.register(fastifyStatic, {
      root: webRoot,
      dotfiles: 'deny',
      cacheControl: false,
      setHeaders: (reply, path) => {
        // Vite names everything under assets/ by its content.
        const isNamedByContent = path.includes(`${sep}assets${sep}`);
        reply.header('cache-control', isNamedByContent ? 'public, max-age=31536000, immutable' : 'no-cache');
      },
    });
  });
}
