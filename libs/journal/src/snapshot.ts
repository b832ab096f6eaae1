import { createInbox, type Msg } from '@nats-io/transport-node';
import { type Bus, busError } from '@rookery/bus';
import { AppError, inboxPrefix } from '@rookery/protocol';

/** Copies of whole streams through the JetStream API, which the client library has no calls for. Runs as `provision`. */

/** What the server says of the copied stream; `restoreStream` gives it back unread. */
export interface SnapshotHead {
  config: Record<string, unknown>;
  state: Record<string, unknown> & { messages: number; bytes: number; first_seq: number; last_seq: number };
}

const CHUNK_BYTES = 128 * 1024;
/** Time without a chunk, or without the server's answer to one, after which the copy has failed. */
const IDLE_MS = 60_000;
const END_OF_SNAPSHOT = 204;

interface ApiReply extends Partial<SnapshotHead> {
  error?: { code?: number; err_code?: number; description?: string };
  deliver_subject?: string;
}

function apiError(stream: string, { error }: ApiReply): AppError {
  return new AppError('JOURNAL_UNAVAILABLE', {
    message: `The server refuses for ${stream}: ${error?.description ?? 'unknown reason'}.`,
    details: { stream, server: error?.err_code ?? error?.code ?? 0 },
  });
}

async function ask(bus: Bus, subject: string, body: object, timeout: number): Promise<ApiReply> {
  try {
    return (await bus.nc.request(subject, JSON.stringify(body), { timeout })).json<ApiReply>();
  } catch (error) {
    throw busError(error);
  }
}

/** Waits for the next message of a subscription, at most `IDLE_MS`. */
async function nextWithin(messages: AsyncIterator<Msg>, stream: string): Promise<Msg> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), IDLE_MS);
  });
  try {
    const next = await Promise.race([messages.next(), late]);
    if (next === 'late' || next.done === true) {
      throw new AppError('JOURNAL_UNAVAILABLE', { message: `The copy of ${stream} stopped before its end.` });
    }
    return next.value;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Copies a stream while it is written to: every message up to the last sequence of the answered state, with its
 * consumers. The next chunk is sent once `onChunk` has resolved. JOURNAL_UNAVAILABLE where the copy did not end.
 */
export async function snapshotStream(
  bus: Bus,
  stream: string,
  onChunk: (chunk: Uint8Array) => Promise<void>,
): Promise<SnapshotHead> {
  const inbox = createInbox(inboxPrefix(bus.user));
  const subscription = bus.nc.subscribe(inbox);
  try {
    const request = { deliver_subject: inbox, no_consumers: false, chunk_size: CHUNK_BYTES };
    const head = await ask(bus, `$JS.API.STREAM.SNAPSHOT.${stream}`, request, IDLE_MS);
    if (head.error !== undefined || head.config === undefined || head.state === undefined) throw apiError(stream, head);
    const messages = subscription[Symbol.asyncIterator]();
    for (;;) {
      const message = await nextWithin(messages, stream);
      if (message.data.length === 0) {
        const code = message.headers?.code ?? END_OF_SNAPSHOT;
        if (code === END_OF_SNAPSHOT || code === 0) return { config: head.config, state: head.state };
        throw new AppError('JOURNAL_UNAVAILABLE', {
          message: `The copy of ${stream} failed: ${message.headers?.description ?? code}.`,
          details: { stream, status: code },
        });
      }
      await onChunk(message.data);
      message.respond();
    }
  } finally {
    subscription.unsubscribe();
  }
}

/**
 * Makes a stream from a copy: same sequences, times, headers, gaps and durable consumers. The stream may not exist.
 * JOURNAL_UNAVAILABLE where the server refuses it.
 */
export async function restoreStream(
  bus: Bus,
  { config, state }: SnapshotHead,
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ lastSeq: number; messages: number }> {
  const stream = String(config.name);
  const begun = await ask(bus, `$JS.API.STREAM.RESTORE.${stream}`, { config, state }, IDLE_MS);
  const deliver = begun.deliver_subject;
  if (begun.error !== undefined || deliver === undefined) throw apiError(stream, begun);
  const send = async (chunk: Uint8Array): Promise<Msg> => {
    try {
      return await bus.nc.request(deliver, chunk, { timeout: IDLE_MS });
    } catch (error) {
      throw busError(error);
    }
  };
  const checked = (message: Msg): ApiReply => {
    const reply = message.data.length === 0 ? {} : message.json<ApiReply>();
    if (reply.error !== undefined) throw apiError(stream, reply);
    return reply;
  };
  for await (const chunk of chunks) checked(await send(chunk));
  const { state: made } = checked(await send(new Uint8Array()));
  if (made === undefined) throw apiError(stream, {});
  return { lastSeq: made.last_seq, messages: made.messages };
}
