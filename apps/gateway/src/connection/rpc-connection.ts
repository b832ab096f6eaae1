import { AppError, type EventFilter, limits, type Timings, toAppError } from '@rookery/protocol';
import type { WebSocket } from 'ws';
import type { Principal } from '../auth/principal.ts';
import type { EventHub, Subscriber } from '../events/hub.ts';
import type { HubEvent } from '../events/hub-event.ts';
import { SeenSeq } from '../rpc/call.ts';
import type { Dispatch } from '../rpc/dispatcher.ts';
import { type RpcRequest, readRequest } from '../rpc/envelope.ts';
import { chooseProtocol, initializeResult } from '../rpc/initialize.ts';
import { errorText, resultText } from '../rpc/response.ts';
import { parseStrictJson } from '../rpc/strict-json.ts';
import { AckHold } from './ack-hold.ts';
import { SendQueue } from './send-queue.ts';

export interface ConnectionPorts {
  dispatch: Dispatch;
  hub: EventHub;
  journalId: () => string;
  timings: Pick<Timings, 'ackHoldMs' | 'sendTimeoutMs'>;
  onEventSent: () => void;
  onTooSlow: () => void;
}

/** Requests of one connection that may be under way; further ones are not read until one was answered. */
const MAX_UNDER_WAY = 64;
const QUEUE_BYTES = 16 * 1024 * 1024;
const HIGH_WATER_BYTES = 1024 * 1024;
/** Time that a slow client has to read what is on its way and the reason of the close. */
const CLOSE_MS = 10_000;
export const CLOSE_TRY_AGAIN = 1013;

interface Held {
  cause: string;
  frame: Buffer;
}

interface Answer {
  text: string;
  /** Done as soon as the answer is in the queue, before anything else can be. */
  after?: () => void;
}

/** One client on a WebSocket: its requests, its events, and their order. */
export class RpcConnection implements Subscriber {
  readonly principal: Principal;
  protocol: number | null = null;
  readonly #socket: WebSocket;
  readonly #ports: ConnectionPorts;
  readonly #queue: SendQueue;
  /** Requests that arrived while as many as may be were under way. */
  readonly #unread: { text: string; isBinary: boolean }[] = [];
  readonly #hold: AckHold<Held>;
  readonly #seen = new SeenSeq();
  readonly #holdTimers = new Set<NodeJS.Timeout>();
  #underWay = 0;
  /** The last change of the filter; the next one follows it. */
  #subscribed: Promise<unknown> = Promise.resolve();
  #leave: (() => void) | null = null;
  #ended: (() => void) | null = null;
  #closed = false;

  constructor(socket: WebSocket, principal: Principal, ports: ConnectionPorts) {
    this.#socket = socket;
    this.principal = principal;
    this.#ports = ports;
    this.#queue = new SendQueue(
      {
        get bufferedAmount() {
          return socket.bufferedAmount;
        },
        send: (frame, written) => socket.send(frame, { binary: false }, written),
      },
      {
        capacity: limits.connectionQueue,
        capacityBytes: QUEUE_BYTES,
        highWaterBytes: HIGH_WATER_BYTES,
        sendTimeoutMs: ports.timings.sendTimeoutMs,
        onTooSlow: () => this.#tooSlow(),
      },
    );
    this.#hold = new AckHold((event) => {
      ports.onEventSent();
      this.#queue.push(event.frame);
    }, limits.connectionQueue);
    socket.on('message', (data, isBinary) => this.#receive(data.toString(), isBinary));
    socket.on('close', () => this.#end());
    socket.on('error', () => this.close(1011, 'connection failed'));
  }

  get queueDepth(): number {
    return this.#queue.depth + this.#hold.size;
  }

  /** An event of this connection's filter, encoded for its protocol. */
  deliver(event: HubEvent, frame: Buffer): void {
    if (!this.#closed) this.#hold.push({ cause: event.cause, frame });
  }

  /** Called once when the connection is over. */
  onEnd(ended: () => void): void {
    this.#ended = ended;
  }

  close(code: number, reason: string): void {
    if (this.#closed) return;
    this.#end();
    this.#socket.close(code, reason);
    // A client that reads nothing does not answer the close either.
    const timer = setTimeout(() => this.#socket.terminate(), CLOSE_MS);
    this.#socket.once('close', () => clearTimeout(timer));
  }

  #end(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#leave?.();
    this.#unread.length = 0;
    this.#queue.end();
    for (const timer of this.#holdTimers) clearTimeout(timer);
    this.#ended?.();
  }

  #tooSlow(): void {
    this.#ports.onTooSlow();
    this.close(CLOSE_TRY_AGAIN, 'event consumer too slow');
  }

  #receive(text: string, isBinary: boolean): void {
    if (this.#closed) return;
    if (this.#underWay >= MAX_UNDER_WAY) {
      // A paused socket still hands over the frames that had arrived with the last ones: they wait here.
      this.#socket.pause();
      this.#unread.push({ text, isBinary });
      return;
    }
    this.#underWay += 1;
    void this.#answer(text, isBinary).then(({ text: answer, after }) => {
      if (this.#closed) return;
      this.#queue.push(answer, () => this.#answered());
      after?.();
    });
  }

  /** An answer counts until the network took it, so that a client that reads nothing cannot ask for ever. */
  #answered(): void {
    this.#underWay -= 1;
    if (this.#closed) return;
    const next = this.#unread.shift();
    if (next !== undefined) this.#receive(next.text, next.isBinary);
    else this.#socket.resume();
  }

  async #answer(text: string, isBinary: boolean): Promise<Answer> {
    try {
      if (isBinary) throw new AppError('INVALID_REQUEST', { details: { reason: 'binary_frame' } });
      const read = readRequest(parseStrictJson(text));
      if (!read.ok) return { text: errorText(read.id, read.error) };
      const { request } = read;
      if (request.method === 'initialize') return this.#greet(request);
      if (this.protocol === null) return { text: errorText(request.id, new AppError('NOT_INITIALIZED')) };
      return await this.#serve(request, this.protocol);
    } catch (error) {
      return { text: errorText(null, toAppError(error)) };
    }
  }

  #greet(request: RpcRequest): Answer {
    try {
      if (this.protocol !== null) throw new AppError('ALREADY_INITIALIZED');
      this.protocol = chooseProtocol(request.params);
      const result = initializeResult(this.protocol, this.#ports.journalId());
      return { text: resultText(request.id, result), after: () => this.#join() };
    } catch (error) {
      return { text: errorText(request.id, toAppError(error)) };
    }
  }

  async #serve(request: RpcRequest, protocol: number): Promise<Answer> {
    const releases: (() => void)[] = [];
    const outcome = await this.#ports.dispatch(request, {
      protocol,
      principal: this.principal,
      seen: this.#seen,
      announce: (commandId) => releases.push(this.#holdFor(commandId)),
      subscription: { change: (filter) => this.#subscribe(filter) },
    });
    return {
      text: outcome.ok ? resultText(request.id, outcome.result) : errorText(request.id, outcome.error),
      after: () => {
        for (const release of releases) release();
      },
    };
  }

  /** Holds events of a command back until it is released, at most `ackHoldMs`. */
  #holdFor(commandId: string): () => void {
    let held = true;
    const release = () => {
      if (!held) return;
      held = false;
      clearTimeout(timer);
      this.#holdTimers.delete(timer);
      this.#hold.end(commandId);
    };
    this.#hold.begin(commandId);
    const timer = setTimeout(release, this.#ports.timings.ackHoldMs);
    this.#holdTimers.add(timer);
    return release;
  }

  #join(): void {
    if (!this.#closed) this.#leave = this.#ports.hub.joinAll(this);
  }

  /** One after the other: two at once would each leave the old filter, and the connection would end up in both. */
  #subscribe(filter: EventFilter | null): Promise<number> {
    const changed = this.#subscribed.then(() => this.#change(filter));
    this.#subscribed = changed.catch(() => undefined);
    return changed;
  }

  async #change(filter: EventFilter | null): Promise<number> {
    const { latestSeq, leave } = await this.#ports.hub.join(this, filter, () => this.#leave?.());
    this.#leave = leave;
    if (this.#closed) leave();
    return latestSeq;
  }
}
