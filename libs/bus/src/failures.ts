import {
  errors,
  NoRespondersError,
  PermissionViolationError,
  RequestError,
  TimeoutError,
} from '@nats-io/transport-node';
import { AppError } from '@rookery/protocol';
import type { Bus } from './connection.ts';

/** What a failed request to NATS says about its effect. */
export type Failure = 'no-responders' | 'permission' | 'not-sent' | 'ambiguous';

/** Codes of the JetStream API: no leader, no metadata leader, not enabled (yet). Seen during elections and restarts. */
export const transientApiCodes: ReadonlySet<number> = new Set([10003, 10007, 10008, 10009, 10039, 10076, 10164]);

/** Code of the JetStream API in an error of the client; undefined where it has none. */
export const apiCode = (error: unknown): number | undefined => {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'number' ? code : undefined;
};

const chain = (error: unknown): unknown[] => {
  const out: unknown[] = [];
  for (let at: unknown = error; at instanceof Error && out.length < 5; at = at.cause) out.push(at);
  return out;
};

/** True where the client refused a message before sending it: it is larger than the server's `max_payload`. */
const isTooLarge = (causes: unknown[]): boolean =>
  causes.some((cause) => cause instanceof errors.InvalidArgumentError && cause.message.includes('max_payload'));

/** Classifies an error of the NATS client; everything that can have had an effect is `ambiguous`. */
export function classifyFailure(error: unknown): Failure {
  const causes = chain(error);
  if (causes.some((cause) => cause instanceof PermissionViolationError)) return 'permission';
  if (causes.some((cause) => cause instanceof NoRespondersError)) return 'no-responders';
  if (causes.some((cause) => cause instanceof RequestError && cause.isNoResponders())) return 'no-responders';
  if (causes.some((cause) => cause instanceof errors.ClosedConnectionError)) return 'not-sent';
  if (causes.some((cause) => cause instanceof errors.DrainingConnectionError)) return 'not-sent';
  // What the client refuses by its arguments never left it.
  if (causes.some((cause) => cause instanceof errors.InvalidArgumentError)) return 'not-sent';
  if (causes.some((cause) => cause instanceof TimeoutError)) return 'ambiguous';
  return 'ambiguous';
}

/**
 * An error of the NATS client as one of ours: PERMISSION_VIOLATION, REQUEST_TOO_LARGE, else SERVICE_UNAVAILABLE with
 * details.failure.
 */
export function busError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (isTooLarge(chain(error))) return new AppError('REQUEST_TOO_LARGE', { cause: error });
  const failure = classifyFailure(error);
  if (failure === 'permission') return new AppError('PERMISSION_VIOLATION', { cause: error });
  return new AppError('SERVICE_UNAVAILABLE', { cause: error, details: { failure } });
}

/** True for a failure that can pass by itself: nobody there, no answer, or a server that is still starting. */
export function isPassing(error: unknown): boolean {
  if (error instanceof AppError) return error.cause === undefined ? error.retry !== 'never' : isPassing(error.cause);
  const api = apiCode(error);
  if (api !== undefined) return transientApiCodes.has(api);
  return classifyFailure(error) !== 'permission' && !isTooLarge(chain(error));
}

/** REQUEST_TOO_LARGE where a message of that many bytes is more than the server takes at once. */
export function requireSendable(bus: Pick<Bus, 'nc'>, bytes: number): void {
  const limit = bus.nc.info?.max_payload ?? Number.POSITIVE_INFINITY;
  if (bytes > limit) throw new AppError('REQUEST_TOO_LARGE', { details: { bytes, limit } });
}
