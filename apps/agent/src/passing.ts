import { AppError, type ErrorCode } from '@rookery/protocol';

/** Failures of NATS, of what it stores and of who answers over it, which pass by themselves. */
const PASSING: readonly ErrorCode[] = [
  'JOURNAL_AMBIGUOUS',
  'JOURNAL_UNAVAILABLE',
  'SERVICE_UNAVAILABLE',
  'RUNNER_UNAVAILABLE',
  'STORAGE_LOW',
];

/** Pause before the same is tried again, in milliseconds. */
export const RETRY_MS = 250;

/** Tells whether a failure passes by itself: nothing is wrong with what was asked, only with the moment. */
export function passes(error: unknown): error is AppError {
  return error instanceof AppError && PASSING.includes(error.code);
}

/**
 * Repeats work until it succeeds or fails for a reason that stays, so that a run outlives any time in which NATS is away.
 * Only for work that may be done twice. Throws the last failure once `signal` is aborted.
 */
export async function untilAnswered<T>(
  work: () => Promise<T>,
  options: { signal: AbortSignal; onWait(code: ErrorCode): void },
): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!passes(error) || options.signal.aborted) throw error;
      options.onWait(error.code);
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      if (options.signal.aborted) throw error;
    }
  }
}
