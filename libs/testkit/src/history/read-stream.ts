import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection, nkeyAuthenticator } from '@nats-io/transport-node';

/** A message of a stream as the server gives it; nothing of our libraries takes part. */
export interface RawMessage {
  streamSeq: number;
  subject: string;
  text: string;
  headers: Record<string, string>;
}

/** Reads a whole stream with plain @nats-io calls as a user that may do so. */
export async function readStream(
  server: { url: string; seed(user: string): string },
  stream: string,
): Promise<RawMessage[]> {
  const nc = await connect({
    servers: server.url,
    authenticator: nkeyAuthenticator(new TextEncoder().encode(server.seed('provision'))),
    inboxPrefix: '_INBOX_provision',
  });
  try {
    const manager = await jetstreamManager(nc);
    const { state } = await manager.streams.info(stream);
    const out: RawMessage[] = [];
    if (state.messages === 0) return out;
    const consumer = await jetstream(nc).consumers.get(stream);
    const messages = await consumer.consume({ max_messages: 1000 });
    for await (const message of messages) {
      const headers: Record<string, string> = {};
      for (const key of message.headers?.keys() ?? []) headers[key] = message.headers?.get(key) ?? '';
      out.push({ streamSeq: message.seq, subject: message.subject, text: message.string(), headers });
      if (message.seq >= state.last_seq) break;
    }
    return out;
  } finally {
    await nc.close();
  }
}

/** Hands over every message that a stream holds now, in order, as fast as the server gives them. */
export async function consumeAll(
  nc: NatsConnection,
  stream: string,
  onMessage: (streamSeq: number, text: string) => void,
): Promise<void> {
  const { state } = await (await jetstreamManager(nc)).streams.info(stream);
  if (state.messages === 0) return;
  const consumer = await jetstream(nc).consumers.get(stream);
  const messages = await consumer.consume({ max_messages: 5000 });
  for await (const message of messages) {
    onMessage(message.seq, message.string());
    if (message.seq >= state.last_seq) break;
  }
}
