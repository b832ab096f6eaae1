const STEPS_MS = [50, 100, 200, 400, 800];
const STEADY_MS = 2000;

/** Wait before reconnect attempt n (from 0), in milliseconds. */
export function reconnectDelay(attempt: number): number {
  return STEPS_MS[attempt] ?? STEADY_MS;
}

/** True where so many attempts failed that the page calls itself offline. */
export function isOffline(attempt: number): boolean {
  return attempt > STEPS_MS.length;
}
