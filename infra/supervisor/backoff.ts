export interface BackoffTimings {
  baseMs: number;
  capMs: number;
  /** A process that was up this long starts again from `baseMs`. */
  resetMs: number;
  /** So many failures within `windowMs` are called failing. */
  failures: number;
  windowMs: number;
}

export const backoffTimings: BackoffTimings = {
  baseMs: 100,
  capMs: 10_000,
  resetMs: 30_000,
  failures: 5,
  windowMs: 60_000,
};

export interface BackoffState {
  /** Wait before the next start, in milliseconds. */
  delayMs: number;
  /** Times of the latest failures. */
  failedAt: number[];
}

export const noFailures: BackoffState = { delayMs: 0, failedAt: [] };

/** State after a process that was up for `upMs` ended at `now`. */
export function afterFailure(
  state: BackoffState,
  now: number,
  upMs: number,
  timings: BackoffTimings = backoffTimings,
): BackoffState {
  const fresh = state.delayMs === 0 || upMs >= timings.resetMs;
  const delayMs = fresh ? timings.baseMs : Math.min(state.delayMs * 2, timings.capMs);
  return { delayMs, failedAt: [...state.failedAt.filter((at) => now - at < timings.windowMs), now] };
}

/** True from the fifth failure within the minute before `now`: said aloud, while restarts go on. */
export function isFailing(state: BackoffState, now: number, timings: BackoffTimings = backoffTimings): boolean {
  return state.failedAt.filter((at) => now - at < timings.windowMs).length >= timings.failures;
}
