import { AckPolicy, type ConsumerMessages, DeliverPolicy, type JsMsg } from '@nats-io/jetstream';
import { nuid } from '@nats-io/transport-node';
import { type Bus, busError } from '@rookery/bus';
import { AppError, COMMIT_HEADER } from '@rookery/protocol';
import type { RawMessage } from './decode.ts';
import { getBatch } from './read.ts';

export type TailMessage = RawMessage;

export interface StreamFacts {
  lastSeq: number;
  firstSeq: number;
  /** Creation time of the stream; another one means another stream. */
  created: string;
}

export interface TailOptions {
  stream: string;
  /**
   * Called before anything is read: at the start and after every reconnect or reset of the consumer. Returns the first
   * sequence wanted, or throws to end the tail.
   */
  begin(facts: StreamFacts): Promise<number>;
  /** Called with messages in stream order; the next batch waits for it. Throwing ends the tail. */
  onBatch(batch: TailMessage[]): Promise<void>;
  /** Level: everything that was in the stream at the last `begin` was handed over. */
  onState?(state: 'waiting' | 'catching-up' | 'level'): void;
  /** The tail has ended by an error of `begin` or `onBatch`. */
  onEnd?(error: AppError): void;
}

export interface Tail {
  stop(): Promise<void>;
}

const PAGE = 2000;
const PAGE_BYTES = 8 * 1024 * 1024;
/** Messages waiting for the reader above which the live consumer is given up and pages are read instead. */
const MAX_WAITING = 20_000;
const RETRY_MS = 200;
const INACTIVE_NANOS = 30_000_000_000;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Ends of the reader itself (not of the connection): no retry. */
class Ended extends Error {}

const fromJs = (message: JsMsg): TailMessage => ({
  streamSeq: message.seq,
  subject: message.subject,
  data: message.data,
  isCommit: message.headers?.get(COMMIT_HEADER) === '1',
});

/**
 * Follows a stream: pages by direct get until it is level (bounded, so that the reader sets the pace), then a pull
 * consumer. Every reconnect starts anew from `begin`.
 */
export function startTail(bus: Bus, options: TailOptions): Tail {
  let stopped = false;
  let interrupt: (() => void) | null = null;
  // Counted, because one can come while pages are read or the consumer is made: then `begin` is due as well.
  let reconnects = 0;
  const removeReconnect = bus.onReconnect(() => {
    reconnects += 1;
    interrupt?.();
  });

  const guard = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw new Ended('the reader ended the tail', { cause: error });
    }
  };

  const facts = async (): Promise<StreamFacts> => {
    const { state, created } = await bus.jsm.streams.info(options.stream);
    return { lastSeq: state.last_seq, firstSeq: state.first_seq, created };
  };

  const catchUp = async (fromSeq: number, lastSeq: number, seen: number): Promise<number> => {
    let next = fromSeq;
    while (next <= lastSeq && !stopped && reconnects === seen) {
      const { messages } = await getBatch(bus, options.stream, { fromSeq: next, max: PAGE, maxBytes: PAGE_BYTES });
      const last = messages.at(-1);
      if (last === undefined) return next;
      await guard(options.onBatch(messages));
      next = last.streamSeq + 1;
    }
    return next;
  };

  const follow = async (fromSeq: number, seen: number): Promise<void> => {
    const created = await bus.jsm.consumers.add(options.stream, {
      // A named consumer is created on a subject that holds its name, which is what our permissions allow.
      name: `tail-${nuid.next()}`,
      ack_policy: AckPolicy.None,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: fromSeq,
      mem_storage: true,
      num_replicas: 1,
      inactive_threshold: INACTIVE_NANOS,
    });
    const consumer = await bus.js.consumers.get(options.stream, created.name);
    let waiting: TailMessage[] = [];
    let working: Promise<void> | null = null;
    /** Why the reader ended the tail; kept, since a reconnect may have ended this consumer before it. */
    let ended: unknown = null;
    let delivered = 0;
    let messages: ConsumerMessages | null = null;
    try {
      await new Promise<void>((resolve, reject) => {
        interrupt = resolve;
        if (reconnects !== seen) return resolve();
        const work = async () => {
          try {
            while (waiting.length > 0 && !stopped) {
              const batch = waiting;
              waiting = [];
              await guard(options.onBatch(batch));
            }
          } catch (error) {
            ended = error;
            reject(error);
          } finally {
            working = null;
          }
        };
        const take = (message: JsMsg) => {
          if (ended !== null) return;
          delivered += 1;
          // A lost message shows as a hole in the consumer's own numbering: begin again.
          if (message.info.deliverySequence !== delivered || waiting.length > MAX_WAITING) return resolve();
          waiting.push(fromJs(message));
          working ??= work();
        };
        const open = async () => {
          messages = await consumer.consume({
            max_messages: 1000,
            expires: 30_000,
            idle_heartbeat: 5000,
            callback: take,
          });
          if (stopped) return resolve();
          const current = messages;
          void (async () => {
            for await (const status of current.status()) {
              const lost = [
                'consumer_deleted',
                'consumer_not_found',
                'stream_not_found',
                'heartbeats_missed',
                'no_responders',
              ];
              if (lost.includes(status.type)) resolve();
            }
          })();
          options.onState?.('level');
        };
        open().catch(reject);
      });
    } finally {
      interrupt = null;
      (messages as ConsumerMessages | null)?.stop();
      // The server removes it after its inactivity threshold where this does not reach it.
      if (bus.isConnected()) bus.jsm.consumers.delete(options.stream, created.name).catch(() => undefined);
      await (working as Promise<void> | null);
    }
    if (ended !== null) throw ended;
  };

  const run = async (): Promise<void> => {
    while (!stopped) {
      try {
        const seen = reconnects;
        const now = await facts();
        const from = await guard(options.begin(now));
        options.onState?.('catching-up');
        const next = await catchUp(from, now.lastSeq, seen);
        if (!stopped) await follow(next, seen);
      } catch (error) {
        if (stopped) return;
        if (error instanceof Ended) {
          options.onEnd?.(
            error.cause instanceof AppError ? error.cause : new AppError('INTERNAL', { cause: error.cause }),
          );
          return;
        }
        if (busError(error).code === 'PERMISSION_VIOLATION') {
          options.onEnd?.(busError(error));
          return;
        }
        options.onState?.('waiting');
        await pause(RETRY_MS);
      }
    }
  };
  const running = run();
  return {
    async stop() {
      stopped = true;
      removeReconnect();
      (interrupt as (() => void) | null)?.();
      await running;
    },
  };
}
