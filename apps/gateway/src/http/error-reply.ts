import { AppError, errorTable, toAppError } from '@rookery/protocol';
import type { FastifyError, FastifyReply } from 'fastify';

/** Sends an error outside JSON-RPC; what went wrong inside shows no more than that. */
export function sendError(
  reply: FastifyReply,
  error: AppError,
  status: number = errorTable[error.code].http,
): FastifyReply {
  const body =
    error.code === 'INTERNAL'
      ? { ...error.toBody(), message: errorTable.INTERNAL.en, details: undefined }
      : error.toBody();
  return reply.code(status).header('cache-control', 'no-store').send({ error: body });
}

/** Errors of fastify and of our handlers as ours. */
export function httpError(error: FastifyError | AppError | Error): { error: AppError; status?: number } {
  if (error instanceof AppError) return { error };
  const status = 'statusCode' in error ? error.statusCode : undefined;
  if (status === 413) return { error: new AppError('REQUEST_TOO_LARGE') };
  if (status === 429) return { error: new AppError('RATE_LIMITED') };
  if (status !== undefined && status >= 400 && status < 500) {
    return { error: new AppError('INVALID_REQUEST', { details: { status } }), status };
  }
  return { error: toAppError(error) };
}
