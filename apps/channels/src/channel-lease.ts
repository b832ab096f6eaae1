import type { Bucket } from '@rookery/bus';
import { AppError, parseInstance, type Timings } from '@rookery/protocol';

/**
 * Names the one instance that sends the answers of a channel. A hint that saves repetitions: the idempotency key of an
 * answer is what makes them harmless.
 */
export interface ChannelLease {
  held(): boolean;
  /** Gives it to whoever asks next. */
  stop(): Promise<void>;
}

export interface ChannelLeaseOptions {
  bucket: Bucket;
  channel: string;
  instance: string;
  timings: Pick<Timings, 'leaseRefreshMs' | 'leaseTtlMs'>;
  onAcquired(): void;
}

const FREE = '';
const decoder = new TextDecoder();

/** Starts asking for a channel's lease, and refreshing it. */
export async function startChannelLease(options: ChannelLeaseOptions): Promise<ChannelLease> {
  const { bucket, instance, timings } = options;
  const key = `channel.${options.channel}`;
  let revision: number | null = null;
  let refreshedAt = Number.NEGATIVE_INFINITY;
  let stopped = false;
  const held = () => revision !== null && performance.now() - refreshedAt < timings.leaseTtlMs - timings.leaseRefreshMs;

  // A predecessor in this place is dead: no two instances share one.
  const mayTake = (holder: string): boolean =>
    holder === FREE || parseInstance(holder).place === parseInstance(instance).place;

  const expectedRevision = async (): Promise<number | null> => {
    if (revision !== null) return revision;
    const entry = await bucket.get(key);
    if (entry === null) return 0;
    return mayTake(decoder.decode(entry.value)) ? entry.revision : null;
  };

  const refresh = async (): Promise<void> => {
    const before = held();
    const started = performance.now();
    try {
      const expected = await expectedRevision();
      if (expected === null || stopped) return;
      revision = await bucket.put(key, instance, expected);
      refreshedAt = started;
    } catch (error) {
      // Another came first; without an answer the lease runs out by itself.
      if (error instanceof AppError && error.code === 'CONFIG_CONFLICT') revision = null;
    }
    if (!before && held()) options.onAcquired();
  };

  let running = refresh();
  await running;
  const timer = setInterval(() => {
    running = running.then(refresh);
  }, timings.leaseRefreshMs);
  return {
    held,
    async stop() {
      stopped = true;
      clearInterval(timer);
      await running;
      if (revision !== null) await bucket.put(key, FREE, revision).catch(() => undefined);
      revision = null;
    },
  };
}
