import { mkdirSync } from 'node:fs';
import { type AppError, toAppError } from '@rookery/protocol';
import {
  type RunningService,
  readServiceConfig,
  type ServiceConfig,
  type ServiceName,
  type StartService,
} from './config.ts';
import { createLogger, logError } from './logger.ts';

/** Longer than the longest orderly stop: after that the process ends itself. */
const STOP_EXTRA_MS = 5000;

/** What has not started is not stopped in order: everything that it does may end at any moment. */
const START_END_MS = 1000;

/** Exit code where trying again changes nothing (EX_CONFIG of sysexits): the supervisor gives up a first start. */
const EXIT_CONFIGURATION = 78;
const exitCode = ({ code }: AppError): number =>
  code === 'CONFIG_INVALID' || code === 'PORT_IN_USE' ? EXIT_CONFIGURATION : 1;

/** A service of a process. */
export type ServicePart = readonly [ServiceName, StartService];

function readConfigs(name: string, parts: readonly ServicePart[]): { config: ServiceConfig; start: StartService }[] {
  try {
    return parts.map(([service, start]) => {
      const config = readServiceConfig(service, process.env);
      mkdirSync(config.folder, { recursive: true, mode: 0o700 });
      return { config, start };
    });
  } catch (error) {
    process.stderr.write(`${name}: ${toAppError(error).message}\n`);
    process.exit(exitCode(toAppError(error)));
  }
}

/**
 * Runs services as this process: starts them side by side, tells the supervisor when all are ready, stops them one after the
 * other in the given order on SIGTERM, SIGINT or when the supervisor is gone, and ends with 0. A failed start or an
 * unexpected error ends with 1, an invalid setting or a taken port with 78, a stop that takes too long with 1.
 */
export async function runServices(name: string, parts: readonly ServicePart[]): Promise<void> {
  const services = readConfigs(name, parts);
  const first = services[0]?.config;
  if (first === undefined) throw new Error('a process without a service');
  // What cannot be laid to one of several services is logged as of the whole.
  const log = services.length === 1 ? first.log : createLogger(name, first.instance, process.env);
  const aborting = new AbortController();
  let started = false;
  let stopping = false;
  const fail =
    (message: string, own = log) =>
    (error: unknown): never => {
      if (stopping && !started && toAppError(error).code === 'SHUTTING_DOWN') process.exit(0);
      logError(own, message, toAppError(error));
      own.flush();
      process.exit(exitCode(toAppError(error)));
    };
  process.on('uncaughtException', fail('unexpected error'));
  process.on('unhandledRejection', fail('unhandled rejection'));
  const starting = services.map(async ({ config, start }): Promise<RunningService> => {
    try {
      const running = await start({ ...config, stopping: aborting.signal });
      config.log.info({ version: config.version }, 'started');
      return running;
    } catch (error) {
      return fail('start failed', config.log)(error);
    }
  });
  const stop = async (reason: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ reason }, 'stopping');
    aborting.abort();
    if (!started) setTimeout(() => process.exit(0), START_END_MS).unref();
    setTimeout(() => process.exit(1), first.timings.drainMs + STOP_EXTRA_MS).unref();
    try {
      for (const running of starting) await (await running).stop();
      process.exit(0);
    } catch (error) {
      fail('stop failed')(error);
    }
  };
  process.on('SIGTERM', () => void stop('SIGTERM'));
  process.on('SIGINT', () => void stop('SIGINT'));
  process.on('disconnect', () => void stop('supervisor gone'));
  await Promise.all(starting);
  started = true;
  process.send?.({ type: 'ready' });
}

/** Runs one service as this process, see `runServices`. */
export function runService(service: ServiceName, start: StartService): Promise<void> {
  return runServices(service, [[service, start]]);
}
