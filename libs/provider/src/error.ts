import { AppError } from '@rookery/protocol';
import type { FailureCategory } from './types.ts';

/** The facts of a failure. None of them is free text of the provider. */
export interface ProviderFailure {
  category: FailureCategory;
  /** HTTP status, where there was one. */
  status?: number;
  requestId?: string;
  /** The same request may succeed later. */
  retryable: boolean;
  retryAfterMs?: number;
  /** A short code of the provider or the system, such as model_not_found or ECONNREFUSED. */
  reason?: string;
  cause?: unknown;
}

const sentences: Record<FailureCategory, string> = {
  authentication: 'The provider refused the key.',
  rate_limit: 'The provider is limiting requests.',
  context_overflow: 'The conversation is longer than the context window of the model.',
  invalid_request: 'The provider refused the request.',
  timeout: 'The provider did not answer in time.',
  network: 'The connection to the provider failed.',
  server: 'The provider had an internal error.',
  cancelled: 'The request was cancelled.',
  protocol: 'The provider answered something that is not a chat completion.',
  unknown: 'The provider failed.',
};

/** A failed model request: PROVIDER_FAILED with a category; its message never holds content or secrets. */
export class ProviderError extends AppError {
  readonly category: FailureCategory;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly reason: string | undefined;
  /** Text, reasoning or a tool call had arrived, so nothing was repeated. */
  contentSeen = false;

  constructor(failure: ProviderFailure) {
    const { category, status, requestId, retryable, retryAfterMs, reason, cause } = failure;
    const facts = [status === undefined ? undefined : `HTTP ${status}`, reason].filter((fact) => fact !== undefined);
    const known = { category, retryable, status, requestId, retryAfterMs, reason };
    super('PROVIDER_FAILED', {
      message: facts.length > 0 ? `${sentences[category]} (${facts.join(', ')})` : sentences[category],
      details: Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)),
      cause,
    });
    this.name = 'ProviderError';
    this.category = category;
    this.status = status;
    this.requestId = requestId;
    this.retryable = retryable;
    this.retryAfterMs = retryAfterMs;
    this.reason = reason;
  }
}
