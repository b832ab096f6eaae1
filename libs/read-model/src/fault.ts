import { AppError } from '@rookery/protocol';

const nameOf = (error: unknown): string => {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return String(code ?? name ?? typeof error);
};

/** An error that can cross threads: what we do not know is INTERNAL with its kind, without its text. */
export function faultOf(error: unknown): AppError {
  if (!(error instanceof AppError))
    return new AppError('INTERNAL', { cause: error, details: { fault: nameOf(error) } });
  if (error.cause === undefined) return error;
  const details = { ...error.details, fault: nameOf(error.cause) };
  return new AppError(error.code, { message: error.message, cause: error.cause, details });
}
