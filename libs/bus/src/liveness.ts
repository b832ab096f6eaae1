import { instanceKey, type Timings } from '@rookery/protocol';
import { openBucket } from './bucket.ts';
import type { Bus } from './connection.ts';

/** Says that this instance lives, and tells whether others do. A hint only: the journal's fence is what is safe. */
export interface Liveness {
  /** True while the instance's lease is there. Throws SERVICE_UNAVAILABLE where NATS does not answer. */
  isAlive(service: string, instance: string): Promise<boolean>;
  /** Instances of a service whose lease is there. */
  list(service: string): Promise<string[]>;
  /** False after a refresh that failed, until one succeeds. */
  healthy(): boolean;
  /** Gives the lease up, so that others need not wait for it to expire. */
  stop(): Promise<void>;
}

export interface LivenessOptions {
  service: string;
  instance: string;
  timings: Pick<Timings, 'leaseRefreshMs'>;
  /** Facts that others may see, such as pid or version; never anything secret. */
  about?: Record<string, unknown>;
}

/** Starts refreshing the instance's lease and presence. */
export async function startLiveness(bus: Bus, options: LivenessOptions): Promise<Liveness> {
  const [leases, presence] = await Promise.all([openBucket(bus, 'leases'), openBucket(bus, 'presence')]);
  const key = instanceKey(options.service, options.instance);
  const value = JSON.stringify({ ...options.about, since: new Date().toISOString() });
  let healthy = true;
  const refresh = async (): Promise<void> => {
    try {
      await Promise.all([leases.put(key, value), presence.put(key, value)]);
      healthy = true;
    } catch {
      healthy = false;
    }
  };
  await refresh();
  const timer = setInterval(() => void refresh(), options.timings.leaseRefreshMs);
  const removeReconnect = bus.onReconnect(() => void refresh());
  const prefix = (service: string) => `instance.${service}.`;
  return {
    isAlive: async (service, instance) => (await leases.get(instanceKey(service, instance))) !== null,
    list: async (service) =>
      (await leases.keys(`${prefix(service)}>`)).map((found) => found.slice(prefix(service).length)),
    healthy: () => healthy,
    async stop() {
      clearInterval(timer);
      removeReconnect();
      if (!bus.isConnected()) return;
      await Promise.allSettled([leases.delete(key), presence.delete(key)]);
    },
  };
}
