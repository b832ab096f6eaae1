import type { Bus } from '@rookery/bus';
import type { Journal } from '@rookery/journal';
import type { HouseStatus } from '@rookery/protocol';
import type { ReadModelState, ReadModelStats } from '@rookery/read-model';

export interface Readiness {
  ready: boolean;
  /** Why not, in stable words without any secret. */
  reasons: string[];
}

export interface ReadinessFacts {
  natsConnected: boolean;
  readModel: ReadModelState['state'];
  lastAppendFailed: boolean;
  journalChanged: boolean;
}

/** Ready means: the journal can be reached, all of it is applied here, and the last append succeeded. */
export function readinessOf(facts: ReadinessFacts): Readiness {
  const reasons = [
    ...(facts.natsConnected ? [] : ['nats_disconnected']),
    ...(facts.readModel === 'live' ? [] : [`read_model_${facts.readModel.replace('-', '_')}`]),
    ...(facts.lastAppendFailed ? ['last_append_failed'] : []),
    ...(facts.journalChanged ? ['journal_changed'] : []),
  ];
  return { ready: reasons.length === 0, reasons };
}

export interface StatusPorts {
  bus: Bus;
  journal: Journal;
  stats: () => ReadModelStats;
  alive: (service: string) => Promise<string[]>;
  /** What a supervisor says; null where there is none. */
  house: () => Promise<HouseStatus | null>;
  readiness: () => Readiness;
  connections: () => number;
  latestSeq: () => number;
  ids: { homeId: string; journalId: string };
  version: string;
  startedAt: string;
}

const SERVICES = ['gateway', 'agent', 'tool', 'memory', 'channels'];

/** What system.status shows: who lives, how far the read model is, which versions run. */
export async function systemStatus(ports: StatusPorts): Promise<Record<string, unknown>> {
  const { bus, journal } = ports;
  const services = await Promise.all(
    SERVICES.map(async (name) => {
      const instances = await ports.alive(name).catch(() => []);
      return { name, alive: instances.length > 0, instances: instances.sort() };
    }),
  );
  const [facts, house] = await Promise.all([journal.info().catch(() => null), ports.house()]);
  const { appliedSeq, appliedCount, foreign, skipped, quarantined, state } = ports.stats();
  return {
    version: ports.version,
    startedAt: ports.startedAt,
    readiness: ports.readiness(),
    services,
    supervisor: house,
    nats: { connected: bus.isConnected(), version: bus.nc.info?.version ?? null },
    journal: {
      ...ports.ids,
      lastSeq: facts?.lastSeq ?? null,
      messages: facts?.messages ?? null,
      latestSeq: ports.latestSeq(),
    },
    readModel: {
      state,
      appliedSeq,
      lag: facts === null ? null : Math.max(0, facts.lastSeq - appliedSeq),
      appliedCount,
      foreign,
      skipped,
      quarantined,
    },
    connections: ports.connections(),
  };
}
