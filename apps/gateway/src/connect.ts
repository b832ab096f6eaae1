import { type Bus, connectBus, journalIdentity, waitProvisioned } from '@rookery/bus';
import { JOURNAL } from '@rookery/protocol';
import type { ServiceConfig } from '@rookery/service';

export interface Connected {
  bus: Bus;
  homeId: string;
  journalId: string;
}

/**
 * Connects as the gateway and waits for a journal that can be used; SHUTTING_DOWN, and what waiting does not mend, ends
 * it: CONFIG_INVALID, PERMISSION_VIOLATION, NATS_TOO_OLD.
 */
export async function connectJournal(config: ServiceConfig): Promise<Connected> {
  const { natsUrl, nkeySeed, instance, timings, log } = config;
  const bus = await connectBus({
    url: natsUrl,
    user: 'gateway',
    seed: nkeySeed,
    name: instance,
    publishTimeoutMs: timings.publishTimeoutMs,
    signal: config.stopping,
    onPermissionViolation: (subject) => log.error({ code: 'PERMISSION_VIOLATION', subject }, 'NATS refused a subject'),
  });
  try {
    const identity = await waitProvisioned(bus, [JOURNAL], {
      signal: config.stopping,
      // The server answers before JetStream is up, and an election takes a while.
      onWaiting: ({ code, details }) => log.warn({ code, details }, 'the journal is not there yet'),
    });
    return { bus, ...identity };
  } catch (error) {
    await bus.close();
    throw error;
  }
}

/** Calls back where a reconnect meets another journal than before. */
export function watchIdentity({ bus, journalId }: Connected, onChanged: (found: string) => void): () => void {
  const look = async () => {
    try {
      const found = (await journalIdentity(bus)).journalId;
      if (found !== journalId) onChanged(found);
    } catch {
      // Not there yet: the read model waits for it too, and compares before it goes on.
    }
  };
  return bus.onReconnect(() => void look());
}
