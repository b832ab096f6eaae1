import { type ErrorCode, errorTable, type Retry } from './error-table.ts';

/** An error as it travels between services and to clients. */
export interface ErrorBody {
  code: ErrorCode;
  message: string;
  retry: Retry;
  details?: Record<string, unknown>;
}

/** The one error of the project: a stable code, a sentence for a person, and JSON-safe details. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly retry: Retry;
  readonly details: Record<string, unknown>;

  constructor(code: ErrorCode, options: { message?: string; details?: Record<string, unknown>; cause?: unknown } = {}) {
    super(options.message ?? errorTable[code].en, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.retry = errorTable[code].retry;
    this.details = options.details ?? {};
  }

  toBody(): ErrorBody {
    const body: ErrorBody = { code: this.code, message: this.message, retry: this.retry };
    if (Object.keys(this.details).length > 0) body.details = this.details;
    return body;
  }
}

/** True where a text is one of our codes. */
export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errorTable, code);
}

/** Rebuilds an error that came over the wire; an unknown code becomes INTERNAL. */
export function errorFromBody(body: unknown): AppError {
  const { code, message, details } = (body ?? {}) as Partial<ErrorBody>;
  const known = isErrorCode(code) ? code : 'INTERNAL';
  return new AppError(known, {
    ...(typeof message === 'string' ? { message } : {}),
    ...(details !== null && typeof details === 'object' ? { details } : {}),
  });
}

/** Any thrown value as an AppError; what we do not know becomes INTERNAL without its text. */
export function toAppError(error: unknown): AppError {
  return error instanceof AppError ? error : new AppError('INTERNAL', { cause: error });
}
