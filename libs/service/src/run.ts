import { mkdirSync } from 'node:fs';
import { toAppError } from '@rookery/protocol';
import { readServiceConfig, type ServiceName, type StartService } from './config.ts';
import { logError } from './logger.ts';

/** Longer than the longest orderly stop: after that the process ends itself. */
const STOP_EXTRA_MS = 5000;

/**
 * Runs a service as this process: starts it, tells the supervisor when it is ready, stops it on SIGTERM, SIGINT or when
 * the supervisor is gone, and ends with 0; a failed start or an unexpected error ends with 1.
 */
export async function runService(service: ServiceName, start: StartService): Promise<void> {
  let stopping = false;
  let config: ReturnType<typeof readServiceConfig>;
  try {
    config = readServiceConfig(service, process.env);
    mkdirSync(config.folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    process.stderr.write(`${service}: ${toAppError(error).message}\n`);
    process.exit(1);
  }
  const { log, timings } = config;
  const fail = (message: string) => (error: unknown) => {
    logError(log, message, toAppError(error));
    log.flush();
    process.exit(1);
  };
  process.on('uncaughtException', fail('unexpected error'));
  process.on('unhandledRejection', fail('unhandled rejection'));
  const starting = start(config);
  const stop = (reason: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ reason }, 'stopping');
    setTimeout(() => process.exit(1), timings.drainMs + STOP_EXTRA_MS).unref();
    void starting
      .then((running) => running.stop())
      .then(() => process.exit(0))
      .catch(fail('stop failed'));
  };
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
  process.on('disconnect', () => stop('supervisor gone'));
  try {
    await starting;
    log.info({ version: config.version }, 'started');
    process.send?.({ type: 'ready' });
  } catch (error) {
    fail('start failed')(error);
  }
}
