import type { Timings } from '@rookery/protocol';

/** What a receiver said: its HTTP status, or why it could not be reached. */
export type PostOutcome = { status: number; retryAfter: string | null } | { error: string };

export type PostVerdict =
  | { kind: 'sent' }
  | { kind: 'failed'; errorCode: string }
  | { kind: 'retry'; errorCode: string; afterMs: number };

export type OutboxTimings = Pick<Timings, 'outboxRetryBaseMs' | 'outboxRetryCapMs'>;

/** No receiver can put an answer off for longer than this at a time. */
const RETRY_AFTER_CAP_MS = 3_600_000;

/** Milliseconds that a Retry-After header asks for, null for none; seconds and HTTP dates. */
export function retryAfterMs(header: string | null, now: Date): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header.trim()) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, date - now.getTime());
}

/** Wait after a failed attempt (1 = the first): doubling up to a cap. */
export function outboxBackoffMs(attempt: number, timings: OutboxTimings): number {
  return Math.min(timings.outboxRetryCapMs, timings.outboxRetryBaseMs * 2 ** Math.min(attempt - 1, 30));
}

/**
 * What follows from an attempt. Redirects are not followed: they count as a refusal. A Retry-After lengthens the wait,
 * to one hour at most.
 */
export function judgePost(outcome: PostOutcome, attempt: number, timings: OutboxTimings, now: Date): PostVerdict {
  const backoff = outboxBackoffMs(attempt, timings);
  if ('error' in outcome) return { kind: 'retry', errorCode: outcome.error, afterMs: backoff };
  const { status } = outcome;
  if (status >= 200 && status < 300) return { kind: 'sent' };
  const errorCode = `http_${status}`;
  if (status < 500 && status !== 408 && status !== 429) return { kind: 'failed', errorCode };
  const asked = Math.min(retryAfterMs(outcome.retryAfter, now) ?? 0, RETRY_AFTER_CAP_MS);
  return { kind: 'retry', errorCode, afterMs: Math.max(backoff, asked) };
}
