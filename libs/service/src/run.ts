import { mkdirSync } from 'node:fs';
import { type AppError, toAppError } from '@rookery/protocol';
import { readServiceConfig, type ServiceName, type StartService } from './config.ts';
import { logError } from './logger.ts';

/** Longer than the longest orderly stop: after that the process ends itself. */
const STOP_EXTRA_MS = 5000;

/** Exit code where trying again changes nothing (EX_CONFIG of sysexits): the supervisor gives up a first start. */
const EXIT_CONFIGURATION = 78;
const exitCode = ({ code }: AppError): number =>
  code === 'CONFIG_INVALID' || code === 'PORT_IN_USE' ? EXIT_CONFIGURATION : 1;

/**
 * Runs a service as this process: starts it, tells the supervisor when it is ready, stops it on SIGTERM, SIGINT or when
 * the supervisor is gone, and ends with 0; a failed start or an unexpected error ends with 1, an invalid setting or a taken port with 78.
 */
export async function runService(service: ServiceName, start: StartService): Promise<void> {
  let stopping = false;
  let config: ReturnType<typeof readServiceConfig>;
  try {
    config = readServiceConfig(service, process.env);
    mkdirSync(config.folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    process.stderr.write(`${service}: ${toAppError(error).message}\n`);
    process.exit(exitCode(toAppError(error)));
  }
  const { log, timings } = config;
  const fail = (message: string) => (error: unknown) => {
    logError(log, message, toAppError(error));
    log.flush();
    process.exit(exitCode(toAppError(error)));
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
