import { createInbox, type Msg, type MsgHdrs } from '@nats-io/transport-node';
import { type Bus, busError } from '@rookery/bus';
import { AppError, COMMIT_HEADER, inboxPrefix } from '@rookery/protocol';
import type { RawMessage } from './decode.ts';

/** Direct gets of a stream: one message, or a bounded batch of them. */

const SUBJECT = 'Nats-Subject';
const SEQUENCE = 'Nats-Sequence';
const PENDING = 'Nats-Num-Pending';

/** Why a direct get can fail for a moment: a restart or an election; the caller tries again. */
export const RETRY_MS = 100;

export interface StoredMessage extends RawMessage {
  /** Nats-Msg-Id, null where the message has none. */
  messageId: string | null;
}

function fromMessage(headers: MsgHdrs, data: Uint8Array): StoredMessage {
  return {
    streamSeq: Number.parseInt(headers.get(SEQUENCE), 10),
    subject: headers.get(SUBJECT),
    data,
    isCommit: headers.get(COMMIT_HEADER) === '1',
    messageId: headers.has('Nats-Msg-Id') ? headers.get('Nats-Msg-Id') : null,
  };
}

async function directGet(bus: Bus, subject: string, query: object | null): Promise<StoredMessage | null> {
  let reply: Msg;
  try {
    reply = await bus.nc.request(subject, query === null ? '' : JSON.stringify(query), {
      timeout: bus.publishTimeoutMs,
    });
  } catch (error) {
    throw busError(error);
  }
  const headers = reply.headers;
  if (headers === undefined) throw new AppError('JOURNAL_UNAVAILABLE', { details: { reply: 'no headers' } });
  if (headers.code === 404) return null;
  if (headers.code !== 0) throw new AppError('JOURNAL_UNAVAILABLE', { details: { status: headers.code } });
  return fromMessage(headers, reply.data);
}

/** The last message of a subject, null where there is none. Needs no right to read anything else. */
export function getLast(bus: Bus, stream: string, subject: string): Promise<StoredMessage | null> {
  return directGet(bus, `$JS.API.DIRECT.GET.${stream}.${subject}`, null);
}

/** The message at a stream sequence, null where it was erased or never was. */
export function getAt(bus: Bus, stream: string, seq: number): Promise<StoredMessage | null> {
  return directGet(bus, `$JS.API.DIRECT.GET.${stream}`, { seq });
}

export interface BatchQuery {
  /** First stream sequence to look at. */
  fromSeq: number;
  max: number;
  /** A subject or filter; none = everything. */
  filter?: string;
  maxBytes?: number;
}

export interface Batch {
  messages: StoredMessage[];
  /** Matching messages behind this batch. */
  pending: number;
}

/** Up to `max` messages from a sequence on, in order. Bounded, so that a reader sets the pace. */
export function getBatch(bus: Bus, stream: string, query: BatchQuery): Promise<Batch> {
  return new Promise((resolve, reject) => {
    const messages: StoredMessage[] = [];
    let pending = 0;
    const inbox = createInbox(inboxPrefix(bus.user));
    let timer: NodeJS.Timeout | undefined;
    const finish = (error?: AppError) => {
      clearTimeout(timer);
      subscription.unsubscribe();
      if (error) reject(error);
      else resolve({ messages, pending });
    };
    const expire = () => finish(new AppError('JOURNAL_UNAVAILABLE', { details: { failure: 'read timed out' } }));
    const subscription = bus.nc.subscribe(inbox, {
      callback: (error, message) => {
        if (error) return finish(busError(error));
        const headers = message.headers;
        const code = headers?.code ?? 0;
        if (code === 404 || code === 204) return finish();
        if (headers === undefined || code !== 0) {
          return finish(new AppError('JOURNAL_UNAVAILABLE', { details: { status: code } }));
        }
        messages.push(fromMessage(headers, message.data));
        pending = Number.parseInt(headers.get(PENDING) || '0', 10);
        timer?.refresh();
      },
    });
    // A connection that closes takes the subscription along and says nothing.
    void subscription.closed.then(() =>
      finish(new AppError('JOURNAL_UNAVAILABLE', { details: { failure: 'closed' } })),
    );
    // Only once the subscription stands: on a closed connection `subscribe` throws, and nothing may be left behind.
    timer = setTimeout(expire, bus.publishTimeoutMs);
    const request: Record<string, unknown> = { seq: Math.max(1, query.fromSeq), batch: query.max };
    if (query.filter !== undefined) request.next_by_subj = query.filter;
    if (query.maxBytes !== undefined) request.max_bytes = query.maxBytes;
    try {
      bus.nc.publish(`$JS.API.DIRECT.GET.${stream}`, JSON.stringify(request), { reply: inbox });
    } catch (error) {
      finish(busError(error));
    }
  });
}
