import { AppError, JOURNAL } from '@rookery/protocol';
import type { Bus } from './connection.ts';
import { busError } from './failures.ts';
import { type Identity, verifyProvisioned } from './provision.ts';
import { unlessAborted } from './unless-aborted.ts';

const RETRY_MS = 500;
/** Waiting does not help against these. */
const FINAL = new Set(['CONFIG_INVALID', 'PERMISSION_VIOLATION', 'NATS_TOO_OLD', 'HOME_LOCKED', 'REQUEST_TOO_LARGE']);

export interface WaitOptions {
  /** Ends the wait with SHUTTING_DOWN: the process is told to stop while it starts. */
  signal?: AbortSignal | undefined;
  /** Called when the wait begins and where its reason changes. */
  onWaiting?(reason: AppError): void;
}

/**
 * What a service needs of NATS to start: repeated until it succeeds. The server takes connections before JetStream is
 * up, an election takes a while, and a house may be provisioned a moment later. Throws SHUTTING_DOWN where the signal is
 * aborted, and errors that waiting does not mend: CONFIG_INVALID, PERMISSION_VIOLATION, NATS_TOO_OLD.
 */
export async function untilAvailable<T>(attempt: () => Promise<T>, options: WaitOptions = {}): Promise<T> {
  const { signal, onWaiting } = options;
  let reason = '';
  for (;;) {
    try {
      return await unlessAborted(attempt(), signal);
    } catch (thrown) {
      if (signal?.aborted) throw new AppError('SHUTTING_DOWN');
      if (thrown instanceof TypeError) throw thrown;
      const error = busError(thrown);
      if (FINAL.has(error.code)) throw error;
      const found = `${error.code} ${error.message}`;
      if (found !== reason) onWaiting?.(error);
      reason = found;
    }
    await unlessAborted(new Promise((resolve) => setTimeout(resolve, RETRY_MS)), signal);
  }
}

/** Waits until the streams of a house are there as specified, and gives its identity; see `untilAvailable`. */
export function waitProvisioned(
  bus: Bus,
  names: readonly string[] = [JOURNAL],
  options: WaitOptions = {},
): Promise<Identity> {
  return untilAvailable(() => verifyProvisioned(bus, names), options);
}
