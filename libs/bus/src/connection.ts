import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection, nkeyAuthenticator, PermissionViolationError } from '@nats-io/transport-node';
import { AppError, inboxPrefix, NATS_MINIMUM, productionTimings } from '@rookery/protocol';
import { unlessAborted } from './unless-aborted.ts';

export interface BusOptions {
  /** One or more server URLs, separated by commas. */
  url: string;
  /** User of protocol's permissions table; it also names the inbox prefix. */
  user: string;
  /** nkey seed `SU…`; empty for a server without users. */
  seed: string;
  name: string;
  publishTimeoutMs?: number;
  /** Aborted while there is no server yet: SHUTTING_DOWN. */
  signal?: AbortSignal | undefined;
  /** Called with a subject that the server refused: a fault of configuration. */
  onPermissionViolation?: (subject: string) => void;
}

/** One connection to NATS as one user. It reconnects for ever. */
export interface Bus {
  readonly user: string;
  readonly nc: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly publishTimeoutMs: number;
  /** `performance.now()` of the last (re)connect. */
  connectedAt(): number;
  isConnected(): boolean;
  /** Registers a callback for every reconnect; returns its removal. */
  onReconnect(callback: () => void): () => void;
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** True for 2.15 and newer. */
export function isSupportedServer({ major, minor }: { major: number; minor: number }): boolean {
  return major > NATS_MINIMUM.major || (major === NATS_MINIMUM.major && minor >= NATS_MINIMUM.minor);
}

/**
 * Longest time for one attempt to connect, milliseconds. A server that closes a connection in mid-handshake (it gives a client
 * two seconds) is noticed by this limit only, and the client's own one of 20 s is longer than a lease lives.
 */
const CONNECT_MS = 3000;

function checkServer(version: string | undefined): void {
  const [major = 0, minor = 0] = (version ?? '').split('.').map((part) => Number.parseInt(part, 10));
  if (isSupportedServer({ major, minor })) return;
  throw new AppError('NATS_TOO_OLD', { details: { found: version ?? 'unknown' } });
}

/**
 * Connects as a user; waits for the server if it is not there yet, unless the signal is aborted (SHUTTING_DOWN). Gives
 * NATS_TOO_OLD for servers before 2.15.
 */
export async function connectBus(options: BusOptions): Promise<Bus> {
  const connecting = connect({
    servers: options.url.split(','),
    name: options.name,
    inboxPrefix: inboxPrefix(options.user),
    maxReconnectAttempts: -1,
    waitOnFirstConnect: true,
    timeout: CONNECT_MS,
    reconnectTimeWait: 200,
    reconnectJitter: 100,
    pingInterval: 10_000,
    maxPingOut: 2,
    ignoreAuthErrorAbort: true,
    // An error object with its stack for every request, made before anything failed, costs more than the request.
    noAsyncTraces: true,
    ...(options.seed === '' ? {} : { authenticator: nkeyAuthenticator(new TextEncoder().encode(options.seed)) }),
  });
  const nc = await unlessAborted(connecting, options.signal, (late) => void late.close());
  try {
    checkServer(nc.info?.version);
  } catch (error) {
    await nc.close();
    throw error;
  }
  let connectedAt = performance.now();
  let connected = true;
  const callbacks = new Set<() => void>();
  const watch = async () => {
    for await (const status of nc.status()) {
      if (status.type === 'disconnect') connected = false;
      else if (status.type === 'reconnect') {
        connected = true;
        connectedAt = performance.now();
        for (const callback of callbacks) callback();
      } else if (status.type === 'error' && status.error instanceof PermissionViolationError) {
        options.onPermissionViolation?.(status.error.subject);
      }
    }
  };
  void watch();
  const jsm = await jetstreamManager(nc, { checkAPI: false, timeout: options.publishTimeoutMs ?? 5000 });
  return {
    user: options.user,
    nc,
    js: jetstream(nc, { timeout: options.publishTimeoutMs ?? 5000 }),
    jsm,
    publishTimeoutMs: options.publishTimeoutMs ?? productionTimings.publishTimeoutMs,
    connectedAt: () => connectedAt,
    isConnected: () => connected && !nc.isClosed(),
    onReconnect(callback) {
      callbacks.add(callback);
      return () => callbacks.delete(callback);
    },
    drain: () => (nc.isClosed() ? Promise.resolve() : nc.drain()),
    close: () => nc.close(),
  };
}
