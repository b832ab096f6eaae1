import { busError, type Liveness } from '@rookery/bus';
import { instanceKey, type Timings } from '@rookery/protocol';
import type { SimulatedBus } from './bus.ts';

/** Leases of instances at the simulated server: kept alive by a timer of their own process, gone after their time. */
export function simulatedLiveness(
  bus: SimulatedBus,
  service: string,
  instance: string,
  timings: Pick<Timings, 'leaseRefreshMs' | 'leaseTtlMs'>,
): Liveness {
  const { server } = bus;
  const { engine, leases } = server;
  const key = instanceKey(service, instance);
  let healthy = true;
  const refresh = async () => {
    try {
      await bus.ask('lease', () => void leases.set(key, engine.now + timings.leaseTtlMs));
      healthy = true;
    } catch {
      healthy = false;
    }
  };
  void refresh();
  const timer = setInterval(() => void refresh(), timings.leaseRefreshMs);
  const removeReconnect = bus.bus.onReconnect(() => void refresh());
  const isThere = (name: string) => (leases.get(name) ?? 0) > engine.now;
  const ask = async <T>(what: string, handle: () => T): Promise<T> => {
    try {
      return await bus.ask(what, handle);
    } catch (error) {
      throw busError(error);
    }
  };
  return {
    isAlive: (of, other) => ask('is alive', () => isThere(instanceKey(of, other))),
    list: (of) => {
      const prefix = `instance.${of}.`;
      const names = () => [...leases.keys()].filter((name) => name.startsWith(prefix) && isThere(name));
      return ask('leases', () => names().map((name) => name.slice(prefix.length)));
    },
    healthy: () => healthy,
    async stop() {
      clearInterval(timer);
      removeReconnect();
      await bus.ask('lease given up', () => void leases.delete(key)).catch(() => undefined);
    },
  };
}
