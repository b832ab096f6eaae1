/** Resolves after a time in milliseconds. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Long, since a machine may be slow: what takes less is not held up by it. */
const DEFAULT_MS = 30_000;

/**
 * Calls `look` until it gives something else than undefined, null or false, and returns that.
 * Throws after `timeoutMs` (default 30 s), naming what was waited for and the last error or value seen.
 */
export async function eventually<T>(
  what: string,
  look: () => Promise<T> | T,
  options: { timeoutMs?: number; everyMs?: number } = {},
): Promise<Exclude<T, undefined | null | false>> {
  const timeoutMs = options.timeoutMs ?? DEFAULT_MS;
  const deadline = performance.now() + timeoutMs;
  let last: unknown;
  for (;;) {
    try {
      const value = await look();
      if (value !== undefined && value !== null && value !== false) {
        return value as Exclude<T, undefined | null | false>;
      }
      last = value;
    } catch (error) {
      last = error;
    }
    if (performance.now() > deadline) {
      const seen = last instanceof Error ? `${last.name}: ${last.message}` : JSON.stringify(last);
      throw new Error(`waited ${timeoutMs} ms for ${what}; last seen: ${seen}`);
    }
    await sleep(options.everyMs ?? 20);
  }
}
