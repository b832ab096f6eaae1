import {
  errors,
  NoRespondersError,
  PermissionViolationError,
  RequestError,
  TimeoutError,
} from '@nats-io/transport-node';
import { AppError } from '@rookery/protocol';

/** What a failed request to NATS says about its effect. */
export type Failure = 'no-responders' | 'permission' | 'not-sent' | 'ambiguous';

const chain = (error: unknown): unknown[] => {
  const out: unknown[] = [];
  for (let at: unknown = error; at instanceof Error && out.length < 5; at = at.cause) out.push(at);
  return out;
};

/** Classifies an error of the NATS client; everything that can have had an effect is `ambiguous`. */
export function classifyFailure(error: unknown): Failure {
  const causes = chain(error);
  if (causes.some((cause) => cause instanceof PermissionViolationError)) return 'permission';
  if (causes.some((cause) => cause instanceof NoRespondersError)) return 'no-responders';
  if (causes.some((cause) => cause instanceof RequestError && cause.isNoResponders())) return 'no-responders';
  if (causes.some((cause) => cause instanceof errors.ClosedConnectionError)) return 'not-sent';
  if (causes.some((cause) => cause instanceof errors.DrainingConnectionError)) return 'not-sent';
  if (causes.some((cause) => cause instanceof TimeoutError)) return 'ambiguous';
  return 'ambiguous';
}

/** An error of the NATS client as one of ours. */
export function busError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const failure = classifyFailure(error);
  if (failure === 'permission') return new AppError('PERMISSION_VIOLATION', { cause: error });
  return new AppError('SERVICE_UNAVAILABLE', { cause: error, details: { failure } });
}
