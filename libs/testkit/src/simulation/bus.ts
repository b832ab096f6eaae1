import {
  headers as emptyHeaders,
  errors,
  type MsgHdrs,
  NoRespondersError,
  TimeoutError,
} from '@nats-io/transport-node';
import type { Bus } from '@rookery/bus';
import { agentRuns, JOURNAL, journalMetadata } from '@rookery/protocol';
import type { Owner } from './engine.ts';
import { Inbox } from './inbox.ts';
import { directHeaders, jsMessage } from './messages.ts';
import type { Interest, Link, Outcome, SimulatedServer, TailConsumer } from './server.ts';
import type { SimulatedMessage } from './stream.ts';

/** A message as the client of NATS hands it over. */
interface Reply {
  subject: string;
  data: Uint8Array;
  headers?: MsgHdrs;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const bytes = (data: unknown): Uint8Array =>
  data instanceof Uint8Array ? data : encoder.encode(typeof data === 'string' ? data : '');

const DIRECT = `$JS.API.DIRECT.GET.${JOURNAL}`;

interface Subscription {
  unsubscribe(): void;
  drain(): Promise<void>;
  /** Settles once nothing comes any more, also with the end of the connection. */
  closed: Promise<void>;
}

export interface SimulatedBusOptions {
  user: string;
  publishTimeoutMs: number;
}

/**
 * A connection to the simulated server, in the shape of the real one. Everything above it (append with its looks, reads,
 * tails, commands) is the product's own code.
 */
export class SimulatedBus {
  readonly server: SimulatedServer;
  readonly link: Link;
  readonly bus: Bus;
  readonly #options: SimulatedBusOptions;

  constructor(server: SimulatedServer, owner: Owner, options: SimulatedBusOptions) {
    this.server = server;
    this.#options = options;
    this.link = server.connect(owner);
    const { link } = this;
    const nc = {
      request: (subject: string, data: unknown, given: { timeout: number; headers?: MsgHdrs }) =>
        this.#request(subject, bytes(data), given),
      publish: (subject: string, data: unknown, given: { reply: string }) =>
        this.#publish(subject, bytes(data), given.reply),
      subscribe: (subject: string, given: SubscribeOptions) => this.#subscribe(subject, given),
      flush: async () => undefined,
      rtt: () => this.ask('ping', () => 1),
      isClosed: () => link.closed,
    };
    const jsm = {
      streams: { info: () => this.ask('stream info', () => this.#info()) },
      consumers: {
        add: (_stream: string, wanted: { name: string; opt_start_seq: number }) =>
          this.ask('consumer create', () => this.#addTail(wanted)),
        delete: (_stream: string, name: string) => this.ask('consumer delete', () => server.removeTail(name)),
      },
    };
    const js = {
      consumers: {
        get: (_stream: string, name: string) =>
          Promise.resolve(name === agentRuns.durable ? this.#offers() : this.#tail(name)),
      },
    };
    const close = async () => server.close(link);
    this.bus = {
      user: this.#options.user,
      nc,
      js,
      jsm,
      publishTimeoutMs: options.publishTimeoutMs,
      connectedAt: () => link.connectedAt,
      isConnected: () => link.connected,
      onReconnect: (callback: () => void) => {
        link.onReconnect.add(callback);
        return () => link.onReconnect.delete(callback);
      },
      drain: close,
      close,
    } as unknown as Bus;
  }

  /** A request that the server itself answers: TimeoutError where no answer comes. */
  ask<T>(what: string, handle: () => T, timeoutMs = this.#options.publishTimeoutMs): Promise<T> {
    return this.#exchange(what, timeoutMs, () => ({ kind: 'answer', value: handle() }));
  }

  #exchange<T>(what: string, timeoutMs: number, handle: () => Outcome<T> | Promise<Outcome<T>>): Promise<T> {
    if (this.link.closed) return Promise.reject(new errors.ClosedConnectionError());
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new TimeoutError()), timeoutMs);
      this.server.carry(this.link, what, handle, (outcome) => {
        clearTimeout(timer);
        if (outcome.kind === 'answer') resolve(outcome.value);
        else reject(new NoRespondersError(what));
      });
    });
  }

  async #request(subject: string, data: Uint8Array, given: { timeout: number; headers?: MsgHdrs }): Promise<unknown> {
    const sentAt = this.server.engine.now;
    const handle = () => this.#handle(subject, data, given.headers, sentAt);
    const reply = await this.#exchange<Reply>(subject, given.timeout, handle);
    return { ...reply, json: () => JSON.parse(decoder.decode(reply.data)) };
  }

  #handle(
    subject: string,
    data: Uint8Array,
    headers: MsgHdrs | undefined,
    sentAt: number,
  ): Outcome<Reply> | Promise<Outcome<Reply>> {
    const { server } = this;
    if (subject.startsWith('journal.')) {
      const plain: Record<string, string> = {};
      for (const name of headers?.keys() ?? []) plain[name] = headers?.get(name) ?? '';
      const answer = server.store(subject, data, plain, sentAt);
      return { kind: 'answer', value: { subject: '', data: encoder.encode(JSON.stringify(answer)) } };
    }
    if (subject.startsWith(DIRECT)) return { kind: 'answer', value: this.#directGet(subject, data) };
    const listener = server.listener(subject);
    if (listener === null) return { kind: 'no-responders' };
    return new Promise((resolve) => {
      server.engine.after(listener.link.owner, server.latency(), `gets ${subject}`, () => {
        if (listener.link.connected) {
          listener.deliver(subject, data, (answer) => {
            // The answer of a process that is cut off from the server goes nowhere.
            if (listener.link.connected && server.isUp)
              resolve({ kind: 'answer', value: { subject: '', data: answer } });
          });
        }
      });
    });
  }

  #directGet(subject: string, data: Uint8Array): Reply {
    const { stream } = this.server;
    const seen = this.server.seenSeq();
    const last = subject.slice(DIRECT.length + 1);
    const { found } =
      last === ''
        ? stream.read((JSON.parse(decoder.decode(data)) as { seq: number }).seq, 1, undefined, seen)
        : { found: stream.read(1, Number.POSITIVE_INFINITY, last, seen).found.slice(-1) };
    const [message] = found;
    if (message === undefined)
      return { subject: '', data: new Uint8Array(), headers: emptyHeaders(404, 'Message Not Found') };
    return { subject: '', data: message.data, headers: directHeaders(message, 0) };
  }

  /** A batched direct get: messages one after the other, then an end. */
  #publish(subject: string, data: Uint8Array, reply: string): void {
    if (this.link.closed) throw new errors.ClosedConnectionError();
    if (subject !== DIRECT) return;
    const query = JSON.parse(decoder.decode(data)) as { seq: number; batch: number; next_by_subj?: string };
    const { server, link } = this;
    const { found, pending } = { found: [] as SimulatedMessage[], pending: 0 };
    const batch = { found, pending };
    server.carry(
      link,
      'batch',
      () => {
        Object.assign(batch, server.stream.read(query.seq, query.batch, query.next_by_subj, server.seenSeq()));
        return { kind: 'answer', value: null };
      },
      () => {
        const inbox = [...server.interests].find((each) => each.link === link && each.subject === reply);
        for (const [index, message] of batch.found.entries()) {
          this.#hand(inbox, message.data, directHeaders(message, batch.pending + batch.found.length - 1 - index));
        }
        const isEmpty = batch.found.length === 0;
        this.#hand(
          inbox,
          new Uint8Array(),
          isEmpty ? emptyHeaders(404, 'Message Not Found') : emptyHeaders(204, 'EOB'),
        );
      },
    );
  }

  #hand(inbox: Interest | undefined, data: Uint8Array, headers: MsgHdrs): void {
    (inbox as Subscribed | undefined)?.callback(null, { data, headers });
  }

  #subscribe(subject: string, { queue, callback }: SubscribeOptions): Subscription {
    if (this.link.closed) throw new errors.ClosedConnectionError();
    const { server } = this;
    let end = (): void => undefined;
    const closed = new Promise<void>((resolve) => {
      end = resolve;
    });
    const interest: Subscribed = {
      end,
      link: this.link,
      subject,
      queue,
      callback,
      deliver: (to, data, respond) =>
        callback(null, {
          subject: to,
          data,
          reply: '_INBOX_simulated.reply',
          json: () => JSON.parse(decoder.decode(data)),
          respond: (answer: unknown) => respond(bytes(answer)),
        }),
    };
    server.interests.add(interest);
    const unsubscribe = (): void => {
      server.interests.delete(interest);
      end();
    };
    return { unsubscribe, drain: async () => unsubscribe(), closed };
  }

  #info(): object {
    const { stream, created, homeId, journalId } = this.server;
    const { lastSeq } = stream;
    return {
      created,
      state: { last_seq: lastSeq, first_seq: lastSeq === 0 ? 0 : 1, messages: lastSeq },
      config: { metadata: { [journalMetadata.homeId]: homeId, [journalMetadata.journalId]: journalId } },
    };
  }

  #addTail({ name, opt_start_seq: nextSeq }: { name: string; opt_start_seq: number }): { name: string } {
    const tail: TailConsumer = { link: this.link, name, nextSeq, delivered: 0, lastDue: 0, take: null, lost: null };
    this.server.addTail(tail);
    this.#tails.set(name, tail);
    return { name };
  }
  readonly #tails = new Map<string, TailConsumer>();

  #tail(name: string): object {
    const tail = this.#tails.get(name);
    this.#tails.delete(name);
    return {
      consume: async ({ callback }: { callback(message: unknown): void }) => {
        const statuses = new Inbox<{ type: string }>();
        if (tail !== undefined) {
          tail.take = (message, delivery) => callback({ ...jsMessage(message), info: { deliverySequence: delivery } });
          tail.lost = (type) => statuses.push({ type });
          this.server.engine.after(this.server.engine.world, this.server.latency(), 'consume', () => {
            if (this.server.hasTail(name)) this.server.pump(name);
            else
              this.server.engine.after(this.link.owner, 1, 'no consumer', () =>
                statuses.push({ type: 'consumer_not_found' }),
              );
          });
        }
        return {
          status: () => statuses,
          stop: () => {
            if (tail !== undefined) tail.take = null;
            statuses.end();
          },
        };
      },
    };
  }

  #offers(): object {
    const { server, link } = this;
    return {
      fetch: async ({ max_messages: left, expires }: { max_messages: number; expires: number }) => {
        const inbox = new Inbox<object>();
        const end = () => {
          server.offers.remove(fetch);
          clearTimeout(timer);
          inbox.end();
        };
        const fetch = {
          link,
          left,
          take: (message: SimulatedMessage) =>
            inbox.push({ ...jsMessage(message), ack: () => server.offers.ack(link, message.streamSeq) }),
          end,
        };
        const timer = setTimeout(end, expires);
        server.carry<null>(
          link,
          'fetch',
          () => {
            server.offers.add(fetch);
            return { kind: 'none' };
          },
          () => undefined,
        );
        return { [Symbol.asyncIterator]: () => inbox[Symbol.asyncIterator](), stop: end };
      },
    };
  }
}

type MessageCallback = (error: Error | null, message: unknown) => void;
interface SubscribeOptions {
  queue?: string;
  callback: MessageCallback;
}
interface Subscribed extends Interest {
  callback: MessageCallback;
}
