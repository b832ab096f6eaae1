import type { HouseStatus } from '@rookery/protocol';
import type { Storage } from '@rookery/service';
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
  storage: Storage | null;
  /** Of the own nats-server. */
  writes: { stop(): Promise<void> } | null;
  demo: { stop(): Promise<void> } | null;
  copies: { stop(): Promise<void> } | null;
  /** False while run/supervisor.json could not be written. */
  recorded: boolean;
}

export function emptyHouse(home: string): House {
  return {
    home,
    nats: null,
    services: [],
    control: null,
    storage: null,
    writes: null,
    demo: null,
    copies: null,
    recorded: true,
  };
}

function processes(house: House): Supervised[] {
  return [...house.services.map(({ supervised }) => supervised), ...(house.nats ? [house.nats] : [])];
}

/** What `runtime.status` answers. */
export function houseStatus(house: House): HouseStatus {
  return {
    processes: processes(house).map(({ name, state, failing, restarts, pid }) => ({
      name,
      state,
      failing,
      restarts,
      pid,
    })),
    storage: { freeBytes: house.storage?.freeBytes() ?? null, low: (house.storage?.refusal() ?? null) !== null },
  };
}

/**
 * Writes down who runs, for the next supervisor should this one be killed. Never throws: without the record (a full disk) only
 * that next start has less to go by, and this is said once.
 */
export function recordHouse(house: House, say: (text: string) => void): void {
  const running = processes(house).flatMap(({ name, pid }) => (pid === null ? [] : [{ name, pid }]));
  try {
    recordProcesses(house.home, running);
    house.recorded = true;
  } catch (error) {
    if (house.recorded)
      say(`who runs could not be recorded: ${error instanceof Error ? error.message : String(error)}`);
    house.recorded = false;
  }
}

/** Stops all in order, nats-server last, whatever happens to one of them; each gets `graceMs` before it is killed. */
export async function stopHouse(house: House, graceMs: number, say: (text: string) => void): Promise<void> {
  const parts: (() => Promise<void> | undefined)[] = [
    () => house.copies?.stop(),
    () => house.writes?.stop(),
    ...house.services.map(
      ({ supervised }) =>
        () =>
          supervised.stop(graceMs),
    ),
    () => house.control?.close(),
    () => house.demo?.stop(),
    () => house.nats?.stop(graceMs),
  ];
  house.storage?.stop();
  for (const stop of parts) {
    try {
      await stop();
    } catch (error) {
      say(`a part did not stop in order: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  recordHouse(house, say);
}

/** Ends all at once. */
export function killHouse(house: House): void {
  for (const each of processes(house)) each.kill();
}
