import { type AttemptState, attempt } from './attempt.ts';
import { ProviderError } from './error.ts';
import { defaultRetry, defaultTimeouts, type ProviderOptions, type RetryPolicy, retryDelay } from './policy.ts';
import type { ProviderEvent, ProviderRequest } from './types.ts';

/** Endpoints (base URL and model) that refused stream_options; forgotten with the process. */
const withoutUsage = new Set<string>();
const rememberedEndpoints = 256;

/**
 * Asks a model and yields what it says as it says it. Failures before any content are tried again within the policy;
 * after content nothing is. Ends after response.completed or throws ProviderError (PROVIDER_FAILED). To stop early abort
 * the signal: it settles at once, also between retries.
 */
export async function* streamChat(
  request: ProviderRequest,
  options: ProviderOptions = {},
): AsyncGenerator<ProviderEvent, void, void> {
  const policy: RetryPolicy = { ...defaultRetry, ...options.retry };
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const random = options.random ?? Math.random;
  const endpoint = `${request.baseUrl}\n${request.model}`;
  const failures = { request: 0, stream: 0 };
  let patience = policy.retryAfterBudgetMs;
  for (let requests = 1; ; requests++) {
    const includeUsage = !withoutUsage.has(endpoint);
    const state: AttemptState = { streaming: false, usageRefused: false };
    try {
      for await (const event of attempt(request, includeUsage, timeouts, state)) {
        if (request.signal?.aborted) throw cancelled();
        yield event;
      }
      return;
    } catch (thrown) {
      const error = request.signal?.aborted ? cancelled(thrown) : thrown;
      if (!(error instanceof ProviderError) || requests >= policy.maxRequests) throw error;
      if (state.usageRefused) {
        remember(endpoint);
        continue;
      }
      const phase = state.streaming ? 'stream' : 'request';
      const limit = state.streaming ? policy.streamRetries : policy.requestRetries;
      if (error.contentSeen || !error.retryable || failures[phase] >= limit) throw error;
      const asked = error.retryAfterMs ?? 0;
      if (asked > policy.capMs) patience -= asked;
      if (patience < 0) throw tooLong(error);
      failures[phase]++;
      const retry = failures.request + failures.stream;
      const delayMs = retryDelay(retry, error.retryAfterMs, policy, random);
      yield { type: 'retry', attempt: retry, category: error.category, delayMs };
      await sleep(delayMs, request.signal);
    }
  }
}

function cancelled(cause?: unknown): ProviderError {
  const error = new ProviderError({ category: 'cancelled', retryable: false });
  if (cause instanceof ProviderError) error.contentSeen = cause.contentSeen;
  return error;
}

/** The provider wants to be left alone for longer than anybody waits for a step. */
function tooLong(cause: ProviderError): ProviderError {
  const { category, retryable, status, requestId, retryAfterMs } = cause;
  return new ProviderError({
    category,
    retryable,
    reason: 'retry_after_too_long',
    cause,
    ...(status === undefined ? {} : { status }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

function remember(endpoint: string): void {
  if (withoutUsage.size >= rememberedEndpoints) withoutUsage.clear();
  withoutUsage.add(endpoint);
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(cancelled());
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
  });
}
