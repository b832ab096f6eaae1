/**
 * Upcasters by the version that they read: each returns the body in the next version's shape. Stored commits are never
 * rewritten. There is one version so far, so the chain is empty.
 */
const upcasters: Record<number, (body: Record<string, unknown>) => Record<string, unknown>> = {};

/** Brings a commit of any older version to the newest shape. */
export function upcast(body: Record<string, unknown>): Record<string, unknown> {
  let current = body;
  for (;;) {
    const step = typeof current.v === 'number' ? upcasters[current.v] : undefined;
    if (step === undefined) return current;
    current = step(current);
  }
}
