import { type Bus, openBucket } from '@rookery/bus';
import { AppError, instanceKey, parseInstance, type Timings } from '@rookery/protocol';

const LOOK_MS = 200;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** An instance that answers under the same name, as its lease says. */
interface Rival {
  key: string;
  revision: number;
}

/**
 * Makes sure that this instance, whose lease is there already, is the only one under its runner's name: of two the one
 * that was there first stays. A lease that is refreshed is of one that lives; others run out, and are waited for. A
 * predecessor in the same place is dead: its folder's lock was free. CONFIG_INVALID where another has the name.
 */
export async function requireSoleRunner(
  bus: Bus,
  own: { runnerId: string; instance: string },
  timings: Pick<Timings, 'leaseTtlMs' | 'leaseRefreshMs'>,
): Promise<void> {
  const leases = await openBucket(bus, 'leases');
  const ownKey = instanceKey('tool', own.instance);
  const prefix = ownKey.slice(0, -own.instance.length);
  const ownPlace = parseInstance(own.instance).place;
  const read = async (key: string) => {
    const entry = await leases.get(key);
    if (entry === null) return null;
    const { runner, since } = JSON.parse(new TextDecoder().decode(entry.value)) as { runner?: string; since?: string };
    return { key, revision: entry.revision, runner, order: `${since} ${key}` };
  };
  const rivals = async (): Promise<Rival[]> => {
    const mine = await read(ownKey);
    const others = await Promise.all((await leases.keys(`${prefix}>`)).map(read));
    return others.flatMap((other) => {
      if (other === null || other.runner !== own.runnerId) return [];
      if (parseInstance(other.key.slice(prefix.length)).place === ownPlace) return [];
      return mine === null || other.order < mine.order ? [other] : [];
    });
  };
  const seen = new Map<string, number>();
  for (const started = performance.now(); ; await pause(LOOK_MS)) {
    const found = await rivals();
    if (found.length === 0) return;
    const lives = found.some(({ key, revision }) => (seen.get(key) ?? revision) !== revision);
    if (lives || performance.now() - started > timings.leaseTtlMs + timings.leaseRefreshMs) {
      throw new AppError('CONFIG_INVALID', {
        message: `another tool-runner answers as "${own.runnerId}"; give this one another ROOKERY_RUNNER`,
        details: { name: 'ROOKERY_RUNNER' },
      });
    }
    for (const { key, revision } of found) if (!seen.has(key)) seen.set(key, revision);
  }
}
