import { AppError, errorTable } from '@rookery/protocol';
import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** JSON lines on stdout, with service and instance; content of conversations and secrets never go in. */
export function createLogger(service: string, instance: string, env: NodeJS.ProcessEnv): Logger {
  const level = env.ROOKERY_LOG || 'info';
  if (!LEVELS.includes(level)) {
    throw new AppError('CONFIG_INVALID', { message: `ROOKERY_LOG must be one of ${LEVELS.join(', ')}` });
  }
  return pino({ level, base: { service, instance }, timestamp: pino.stdTimeFunctions.isoTime });
}

/** Logs an error at its code's level, with code and details only. */
export function logError(log: Logger, message: string, error: AppError): void {
  const cause =
    error.cause instanceof Error ? { cause: `${error.cause.name}: ${error.cause.message.slice(0, 500)}` } : {};
  const stack = error.code === 'INTERNAL' && error.cause instanceof Error ? { stack: error.cause.stack } : {};
  log[errorTable[error.code].log]({ code: error.code, details: error.details, ...cause, ...stack }, message);
}
