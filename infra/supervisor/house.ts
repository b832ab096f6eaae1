import type { Control } from './control.ts';
import { recordProcesses } from './leftovers.ts';
import type { Service } from './services.ts';
import type { Supervised } from './supervised.ts';

/** Everything that a supervisor has running. */
export interface House {
  readonly home: string;
  nats: Supervised | null;
  /** In the order in which they stop. */
  services: Service[];
  control: Control | null;
  demo: { stop(): Promise<void> } | null;
}

export function emptyHouse(home: string): House {
  return { home, nats: null, services: [], control: null, demo: null };
}

function processes(house: House): Supervised[] {
  return [...house.services.map(({ supervised }) => supervised), ...(house.nats ? [house.nats] : [])];
}

/** Writes down who runs, for the next supervisor should this one be killed. */
export function recordHouse(house: House): void {
  recordProcesses(
    house.home,
    processes(house).flatMap(({ name, pid }) => (pid === null ? [] : [{ name, pid }])),
  );
}

/** Stops all in order, nats-server last; each gets `graceMs` before it is killed. */
export async function stopHouse(house: House, graceMs: number): Promise<void> {
  for (const { supervised } of house.services) await supervised.stop(graceMs);
  await house.control?.close();
  await house.demo?.stop();
  await house.nats?.stop(graceMs);
  recordHouse(house);
}

/** Ends all at once. */
export function killHouse(house: House): void {
  for (const each of processes(house)) each.kill();
}
