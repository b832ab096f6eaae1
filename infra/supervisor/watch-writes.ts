import { type Bus, connectBus } from '@rookery/bus';
import { readSeed } from '@rookery/nats';
import { SERVER_HEALTH, SYSTEM_USER } from '@rookery/protocol';
import type { Storage } from '@rookery/service';

/** A server whose disk is broken for good must not be started again and again without a pause. */
const leastMs = 60_000;
const askMs = 5000;

export interface WatchWritesOptions {
  home: string;
  natsUrl: string;
  storage: Storage;
  /** Milliseconds between two looks. */
  lookMs: number;
  restart(): Promise<void>;
  say(text: string): void;
}

/**
 * Starts nats-server again where it still refuses to write although there is space: after a full disk each of its streams keeps
 * its write error until then, and acknowledges nothing.
 */
export function watchWrites(options: WatchWritesOptions): { stop(): Promise<void> } {
  const { home, natsUrl: url, storage, say } = options;
  let bus: Bus | null = null;
  let said = false;
  let restartedAt = Number.NEGATIVE_INFINITY;
  let looking = false;

  const writeError = async (): Promise<string | null> => {
    bus ??= await connectBus({
      url,
      user: SYSTEM_USER,
      seed: await readSeed(home, SYSTEM_USER),
      name: 'supervisor, health',
    });
    // A server that is away or busy is the business of others.
    const reply = await bus.nc.request(SERVER_HEALTH, '', { timeout: askMs }).catch(() => null);
    const error = reply?.json<{ data?: { error?: unknown } }>().data?.error;
    return typeof error === 'string' && /write error/i.test(error) ? error : null;
  };
  const look = async () => {
    if (looking || storage.refusal() !== null || performance.now() - restartedAt < leastMs) return;
    looking = true;
    try {
      const error = await writeError();
      if (error === null) return;
      restartedAt = performance.now();
      say(`nats-server stopped writing (${error}) and there is space again: it is started again`);
      await options.restart();
    } catch (error) {
      if (!said)
        say(`nats-server cannot be asked how it is: ${error instanceof Error ? error.message : String(error)}`);
      said = true;
    } finally {
      looking = false;
    }
  };
  const timer = setInterval(() => void look(), options.lookMs);
  return {
    stop: async () => {
      clearInterval(timer);
      await bus?.close();
    },
  };
}
