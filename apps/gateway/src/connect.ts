import { type Bus, connectBus, journalIdentity, verifyProvisioned } from '@rookery/bus';
import { AppError, toAppError } from '@rookery/protocol';
import type { ServiceConfig } from '@rookery/service';

const RETRY_MS = 500;

export interface Connected {
  bus: Bus;
  homeId: string;
  journalId: string;
}

/** Connects as the gateway and waits for a journal that can be used; CONFIG_INVALID and NATS_TOO_OLD end it. */
export async function connectJournal(config: ServiceConfig, isStopped: () => boolean): Promise<Connected> {
  const { natsUrl, nkeySeed, instance, timings, log } = config;
  const bus = await connectBus({
    url: natsUrl,
    user: 'gateway',
    seed: nkeySeed,
    name: instance,
    publishTimeoutMs: timings.publishTimeoutMs,
    onPermissionViolation: (subject) => log.error({ code: 'PERMISSION_VIOLATION', subject }, 'NATS refused a subject'),
  });
  for (;;) {
    try {
      return { bus, ...(await verifyProvisioned(bus)) };
    } catch (thrown) {
      const error = toAppError(thrown);
      // The server answers before JetStream is up, and an election takes a while.
      if (error.code === 'CONFIG_INVALID' || isStopped()) {
        await bus.close();
        throw isStopped() ? new AppError('SHUTTING_DOWN') : error;
      }
      log.warn({ code: error.code, details: error.details }, 'the journal is not there yet');
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
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
