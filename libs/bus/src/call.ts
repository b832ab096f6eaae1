import { AppError, type CommandReply, type CommandRequest, errorFromBody } from '@rookery/protocol';
import type { Bus } from './connection.ts';
import { busError, classifyFailure, requireSendable } from './failures.ts';

export interface CallOptions {
  timeoutMs: number;
  /** How long to go on while nobody listens; such a request had no effect. Default: 5 s, at most the time-out. */
  noResponderMs?: number;
  /** For commands that may safely be repeated: the time after which an unanswered attempt is sent again. */
  attemptMs?: number;
}

const encoder = new TextEncoder();
const RETRY_PAUSE_MS = 100;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Sends a command to a service and returns its result. Throws the service's own AppError, REQUEST_TOO_LARGE (nothing was
 * sent), or SERVICE_UNAVAILABLE where nobody answered (details.failure: no-responders and not-sent = no effect,
 * ambiguous = perhaps, by this attempt or by an earlier one).
 */
export async function callCommand<T = unknown>(
  bus: Bus,
  subject: string,
  request: Omit<CommandRequest, 'v'>,
  options: CallOptions,
): Promise<{ result: T; seq?: number }> {
  const started = performance.now();
  const left = () => options.timeoutMs - (performance.now() - started);
  const noResponderMs = Math.min(options.noResponderMs ?? 5000, options.timeoutMs);
  const payload = encoder.encode(JSON.stringify({ v: 1, ...request }));
  requireSendable(bus, payload.length);
  let unknown: AppError | null = null;
  for (;;) {
    try {
      const timeout = Math.max(1, Math.min(left(), options.attemptMs ?? Number.POSITIVE_INFINITY));
      const message = await bus.nc.request(subject, payload, { timeout });
      const reply = message.json<CommandReply<T>>();
      if (!reply.ok) throw errorFromBody(reply.error);
      return reply.seq === undefined ? { result: reply.result } : { result: reply.result, seq: reply.seq };
    } catch (error) {
      if (error instanceof AppError) throw error;
      const failure = classifyFailure(error);
      const mayWait = failure === 'no-responders' && performance.now() - started < noResponderMs;
      const mayRepeat = failure === 'ambiguous' && options.attemptMs !== undefined && left() > RETRY_PAUSE_MS;
      if (failure === 'ambiguous') unknown = busError(error);
      if (!mayWait && !mayRepeat) throw unknown ?? busError(error);
      await pause(RETRY_PAUSE_MS);
    }
  }
}
