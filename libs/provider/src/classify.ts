import { ProviderError, type ProviderFailure } from './error.ts';
import { parseRetryAfter } from './policy.ts';
import type { FailureCategory } from './types.ts';

/** Response headers, names in lower case. */
export type Headers = Record<string, string | string[] | undefined>;

const contextWords =
  /context[_ -]?(length|window|size|limit)|maximum context|context_overflow|(prompt|input|request)( is)? too (long|large)|too many (input )?tokens|exceed\w*[^.]{0,60}(context|token)|reduce the length|上下文.{0,12}(超|过长|限制|长度)/i;

/** A code that is safe to show: short, a slug, and not a value of the request. */
const slug = /^[a-zA-Z][a-zA-Z0-9_.-]{0,63}$/;

/** The first value of a header, where it has one. */
export function header(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** The failure that an HTTP status with its body stands for; `secrets` are values that may not be shown. */
export function failureOfStatus(
  status: number,
  headers: Headers,
  body: string,
  secrets: readonly string[],
  now: number,
): ProviderError {
  const error = errorObject(body);
  const retryAfterMs = parseRetryAfter(header(headers, 'retry-after'), now);
  const code = reasonOf(error, secrets);
  const category = statusCategory(status, body);
  const failure: ProviderFailure = {
    category,
    status,
    retryable: isRetryable(category) && code !== 'insufficient_quota',
    ...(code ? { reason: code } : {}),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
  const requestId = requestIdOf(headers);
  return new ProviderError(requestId ? { ...failure, requestId } : failure);
}

/** The id that a provider gave this request, 1 to 200 printable characters, for its support. */
export function requestIdOf(headers: Headers): string | undefined {
  const id = header(headers, 'x-request-id') ?? header(headers, 'request-id') ?? header(headers, 'x-ds-trace-id');
  return id !== undefined && /^[\x20-\x7e]{1,200}$/.test(id) ? id : undefined;
}

/** The failure that an error object inside a stream stands for; a number in its code is an HTTP status. */
export function failureInStream(error: unknown, requestId: string | undefined): ProviderError {
  const fields = typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : { message: error };
  const status = Number(fields.code ?? fields.status);
  const known = Number.isInteger(status) && status >= 400 && status <= 599;
  const text = JSON.stringify(fields);
  let category: FailureCategory = known ? statusCategory(status, text) : 'server';
  if (!known && contextWords.test(text)) category = 'context_overflow';
  else if (!known && /rate.?limit|too many requests/i.test(text)) category = 'rate_limit';
  else if (!known && /invalid_request|bad_request/i.test(text)) category = 'invalid_request';
  const failure: ProviderFailure = { category, retryable: isRetryable(category), ...(known ? { status } : {}) };
  return new ProviderError(requestId ? { ...failure, requestId } : failure);
}

/** The failure that a broken connection or a wait that ran out stands for. */
export function failureOfTransport(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  const code = systemCode(error);
  const category = transportCategory(code);
  // A certificate that is wrong now is wrong in a second too.
  const certificate = /^(CERT_|ERR_TLS|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code ?? '');
  return new ProviderError({
    category,
    retryable: isRetryable(category) && !certificate,
    ...(code ? { reason: code } : {}),
    cause: error,
  });
}

function systemCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof code === 'string' && slug.test(code)) return code;
  // Happy eyeballs reports one error for each address.
  if (error instanceof AggregateError) return systemCode(error.errors[0]);
  return undefined;
}

function transportCategory(code: string | undefined): FailureCategory {
  if (code === undefined) return 'network';
  if (code === 'ETIMEDOUT' || /^UND_ERR_\w*TIMEOUT$/.test(code)) return 'timeout';
  if (code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW') return 'protocol';
  if (code === 'UND_ERR_INVALID_ARG') return 'invalid_request';
  return 'network';
}

function statusCategory(status: number, body: string): FailureCategory {
  if (status === 401 || status === 403) return 'authentication';
  if (status === 429) return 'rate_limit';
  if ((status === 400 || status === 413 || status === 422) && contextWords.test(body)) return 'context_overflow';
  if (status === 408 || status === 504) return 'timeout';
  if (status >= 500) return 'server';
  return 'invalid_request';
}

function isRetryable(category: FailureCategory): boolean {
  return category === 'rate_limit' || category === 'timeout' || category === 'server' || category === 'network';
}

function errorObject(body: string): Record<string, unknown> {
  try {
    const json: unknown = JSON.parse(body);
    if (typeof json !== 'object' || json === null) return {};
    const inner = 'error' in json ? json.error : json;
    return typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function reasonOf(error: Record<string, unknown>, secrets: readonly string[]): string | undefined {
  for (const value of [error.code, error.type]) {
    if (typeof value !== 'string' || !slug.test(value)) continue;
    if (!secrets.some((secret) => overlaps(secret, value))) return value;
  }
  return undefined;
}

/** True where eight characters in a row of `secret` (or all of a shorter one) stand in `text`. */
function overlaps(secret: string, text: string): boolean {
  if (secret.length < 8) return secret !== '' && text.includes(secret);
  for (let at = 0; at + 8 <= secret.length; at++) if (text.includes(secret.slice(at, at + 8))) return true;
  return false;
}
