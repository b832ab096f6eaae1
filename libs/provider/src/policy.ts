import { limits, productionTimings } from '@rookery/protocol';

/** Waits in milliseconds. */
export interface ProviderTimeouts {
  connectMs: number;
  headersMs: number;
  /** Silence between two chunks of a response. */
  idleMs: number;
  /** Patience for usage and [DONE] once the finish reason is known. */
  trailerMs: number;
}

/** How often and after what wait a failed request is made again. */
export interface RetryPolicy {
  requestRetries: number;
  streamRetries: number;
  /** Upstream requests of one step, whatever they were for. */
  maxRequests: number;
  baseMs: number;
  /** Longest wait of our own choice; a Retry-After may be longer. */
  capMs: number;
  /** What one step waits in all for Retry-Afters over `capMs`; one that does not fit ends the step at once. */
  retryAfterBudgetMs: number;
}

/** Settings of a call; the defaults are those of production. */
export interface ProviderOptions {
  timeouts?: Partial<ProviderTimeouts>;
  retry?: Partial<RetryPolicy>;
  /** 0 <= value < 1, for the jitter. */
  random?: () => number;
}

export const defaultTimeouts: ProviderTimeouts = {
  connectMs: productionTimings.providerConnectMs,
  headersMs: productionTimings.providerHeadersMs,
  idleMs: productionTimings.providerIdleMs,
  trailerMs: 5000,
};

export const defaultRetry: RetryPolicy = {
  requestRetries: limits.providerRequestRetries,
  streamRetries: limits.providerStreamRetries,
  maxRequests: limits.providerRequestsPerStep,
  baseMs: productionTimings.providerRetryBaseMs,
  capMs: productionTimings.providerRetryCapMs,
  retryAfterBudgetMs: 60_000,
};

/** Milliseconds that a Retry-After header (seconds or an HTTP date) asks for; undefined where it says nothing usable. */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}(\.\d{1,6})?$/.test(text)) return Math.round(Number(text) * 1000);
  // An HTTP date names its day; Date.parse alone would take a stray number for a year.
  const at = /^[A-Z][a-z]{2,8}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

/**
 * Milliseconds before retry number `attempt` (1, 2, …): doubling with jitter up to the cap, and never before Retry-After,
 * however long that is. To ask again sooner than a provider wants only uses up the retries.
 */
export function retryDelay(
  attempt: number,
  retryAfterMs: number | undefined,
  policy: RetryPolicy,
  random: () => number,
): number {
  const backoff = policy.baseMs * 2 ** (attempt - 1) * (0.9 + 0.2 * random());
  return Math.round(Math.max(Math.min(policy.capMs, backoff), retryAfterMs ?? 0));
}
