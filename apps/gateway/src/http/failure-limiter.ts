export interface FailureLimit {
  max: number;
  windowMs: number;
}

const MAX_ADDRESSES = 10_000;

/** Counts refused credentials by address, loopback included; only further refusals are slowed down, never a good one. */
export class FailureLimiter {
  readonly #limit: FailureLimit;
  readonly #failures = new Map<string, { count: number; endsAt: number }>();

  constructor(limit: FailureLimit) {
    this.#limit = limit;
  }

  /** Notes a refusal; true where the address has had too many. */
  note(address: string, now: number): boolean {
    const known = this.#failures.get(address);
    const entry = known && known.endsAt > now ? known : { count: 0, endsAt: now + this.#limit.windowMs };
    entry.count += 1;
    if (known === undefined && this.#failures.size >= MAX_ADDRESSES) this.#failures.clear();
    this.#failures.set(address, entry);
    return entry.count > this.#limit.max;
  }
}
