import { connect, type NatsConnection, nkeyAuthenticator, PermissionViolationError } from '@nats-io/transport-node';
import type { TestNats } from './nats.ts';

export type { NatsConnection } from '@nats-io/transport-node';

/** A plain connection as a user of the project, its inboxes included. */
export function connectAs(nats: Pick<TestNats, 'url' | 'seed'>, user: string): Promise<NatsConnection> {
  return connect({
    servers: nats.url,
    authenticator: nkeyAuthenticator(new TextEncoder().encode(nats.seed(user))),
    inboxPrefix: `_INBOX_${user}`,
  });
}

/** Tries to connect without a key, or with a seed that is nobody's; rejects as the server does. */
export async function connectAsStranger(
  url: string,
  options: { seed?: Uint8Array; password?: string } = {},
): Promise<void> {
  const nc = await connect({
    servers: url,
    maxReconnectAttempts: 0,
    timeout: 2000,
    ...(options.seed === undefined ? {} : { authenticator: nkeyAuthenticator(options.seed) }),
    ...(options.password === undefined ? {} : { user: 'agent', pass: options.password }),
  });
  await nc.close();
}

/** `publish <subject>` or `subscription <subject>` of each refusal, as the server sends them. */
export function refusals(nc: NatsConnection): Set<string> {
  const refused = new Set<string>();
  const watch = async () => {
    for await (const status of nc.status()) {
      if (status.type === 'error' && status.error instanceof PermissionViolationError) {
        refused.add(`${status.error.operation} ${status.error.subject}`);
      }
    }
  };
  void watch();
  return refused;
}
