import { mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AppError } from '@rookery/protocol';
import type { RunningService, ServiceConfig } from '@rookery/service';
import { writeWhole } from './auth/token-file.ts';
import { type Address, readEdgeSettings } from './http/address.ts';
import { buildServer, type HttpServer } from './http/server.ts';
import { type Live, startLive } from './live.ts';
import { Metrics } from './status/metrics.ts';

/** Time that clients have to answer a close when the gateway stops. */
const CLOSE_MS = 1000;

export interface RunningGateway extends RunningService {
  /** Where it listens. */
  address: Address;
  routes: HttpServer['routes'];
}

/** Folder of the built web client, from the source tree and from a bundle in dist/. */
function webRoot(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  return import.meta.url.endsWith('.ts') ? resolve(here, '../../web/dist') : resolve(here, '../apps/web/dist');
}

async function listen({ app }: HttpServer, { host, port }: Address): Promise<Address> {
  try {
    await app.listen({ host, port });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const where = `${host}:${port}`;
    if (code === 'EADDRINUSE') {
      throw new AppError('PORT_IN_USE', {
        message: `ROOKERY_HTTP: ${where} is in use. Stop the program that listens there, or set ROOKERY_HTTP=${host}:0.`,
        details: { address: where },
        cause,
      });
    }
    throw new AppError('CONFIG_INVALID', { message: `ROOKERY_HTTP: this machine cannot listen on ${where}.`, cause });
  }
  const bound = app.server.address();
  return { host, port: typeof bound === 'object' && bound !== null ? bound.port : port };
}

/** Starts the edge. It listens at once and serves when NATS is there and all of the journal is applied. */
export async function start(config: ServiceConfig): Promise<RunningGateway> {
  const settings = readEdgeSettings(config.env);
  mkdirSync(config.folder, { recursive: true, mode: 0o700 });
  const metrics = new Metrics();
  let live: Live | null = null;
  const server = await buildServer({
    rules: settings,
    live: () => live,
    metrics,
    timings: config.timings,
    log: config.log,
    webRoot: webRoot(),
  });
  const address = await listen(server, settings.address);
  try {
    await writeWhole(
      join(config.home, 'run', 'gateway.json'),
      `${JSON.stringify({ http: address, pid: process.pid })}\n`,
      0o644,
    );
    live = await startLive(config, metrics);
  } catch (error) {
    await server.app.close();
    throw error;
  }
  config.log.info({ http: address }, 'serving');
  return {
    address,
    routes: server.routes,
    async stop() {
      const stopping = live;
      live = null;
      stopping?.registry.stop();
      const cut = setTimeout(() => {
        for (const socket of server.app.websocketServer.clients) socket.terminate();
      }, CLOSE_MS);
      await server.app.close();
      clearTimeout(cut);
      await stopping?.stop();
    },
  };
}
