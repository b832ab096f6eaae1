import { AppError, type ErrorCode, errorFromBody, errorTable, isErrorCode } from '@rookery/protocol';

interface WireError {
  code?: number;
  message?: string;
  data?: { code?: unknown; details?: Record<string, unknown> };
}

const byRpcCode = (rpc: number | undefined): ErrorCode =>
  (Object.keys(errorTable) as ErrorCode[]).find((code) => errorTable[code].rpc === rpc) ?? 'INTERNAL';

/** An error of a JSON-RPC answer as one of ours. */
export function rpcFailure(error: WireError): AppError {
  const code = isErrorCode(error.data?.code) ? error.data.code : byRpcCode(error.code);
  return errorFromBody({ code, message: error.message, details: error.data?.details });
}

/** Nothing answers like a gateway at an address. */
export function notRunning(url: string, cause: unknown): AppError {
  const message = `Rookery is not running at ${url}. Start it with \`npm start\`, or set ROOKERY_HOME or ROOKERY_HTTP.`;
  return new AppError('SERVICE_UNAVAILABLE', { message, cause });
}

/** The gateway refused the token of a home. */
export function tokenRefused(home: string): AppError {
  const message = `The gateway refused the token in ${home}/token: it is the token of another home, or an old one.`;
  return new AppError('UNAUTHORIZED', { message });
}
