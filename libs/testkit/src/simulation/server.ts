import { COMMIT_HEADER, JOURNAL } from '@rookery/protocol';
import type { Engine, Owner } from './engine.ts';
import { SharedConsumer } from './offers.ts';
import { matchesFilter, type SimulatedMessage, SimulatedStream } from './stream.ts';
import type { Weather } from './weather.ts';

/** A subscription of core NATS. */
export interface Interest {
  readonly link: Link;
  readonly subject: string;
  readonly queue: string | undefined;
  deliver(subject: string, data: Uint8Array, respond: (data: Uint8Array) => void): void;
  /** The connection has ended. */
  end(): void;
}

/** One connection, as the server sees it. */
export interface Link {
  readonly owner: Owner;
  connected: boolean;
  closed: boolean;
  /** Virtual time of the last (re)connect. */
  connectedAt: number;
  readonly onReconnect: Set<() => void>;
}

/** Gets every message of the stream from a sequence on, in order. */
export interface TailConsumer {
  readonly link: Link;
  readonly name: string;
  nextSeq: number;
  delivered: number;
  lastDue: number;
  take: ((message: SimulatedMessage, delivery: number) => void) | null;
  lost: ((type: string) => void) | null;
}

/** What comes of a request on its way to the server and back. */
export type Outcome<T> = { kind: 'answer'; value: T } | { kind: 'none' } | { kind: 'no-responders' };

const encoder = new TextEncoder();

/** The NATS server of a simulation: one stream, core requests, leases, blobs; all of it as unreliable as the weather. */
export class SimulatedServer {
  readonly engine: Engine;
  readonly weather: Weather;
  readonly stream = new SimulatedStream();
  created = 'simulated-1';
  readonly homeId = '00000000-0000-4000-8000-000000000001';
  journalId = 'simulated-journal-1';
  readonly leases = new Map<string, number>();
  readonly blobs = new Map<string, string>();
  readonly links = new Set<Link>();
  readonly interests = new Set<Interest>();
  /** False while the server is down. */
  isUp = true;
  /** True once no fault may happen any more: what is under way comes to its end. */
  calm = false;
  /** Sees every message at the moment at which it is stored, with the moment at which its sender sent it. */
  onStored: (message: SimulatedMessage, sentAt: number) => void = () => undefined;
  readonly #tails = new Map<string, TailConsumer>();
  /** The shared consumer `agent-runs`. */
  readonly offers: SharedConsumer;

  constructor(engine: Engine, weather: Weather) {
    this.engine = engine;
    this.weather = weather;
    this.offers = new SharedConsumer(this);
  }

  /** True with that chance, while faults are allowed. */
  strikes(share: number): boolean {
    return !this.calm && share > 0 && this.engine.random.next() < share;
  }

  /** How long a message is under way, milliseconds. */
  latency(): number {
    const { latencyMs, slowMs, slow } = this.weather;
    return this.engine.random.next() * (this.strikes(slow) ? slowMs : latencyMs);
  }

  connect(owner: Owner): Link {
    const link: Link = {
      owner,
      connected: this.isUp,
      closed: false,
      connectedAt: this.engine.now,
      onReconnect: new Set(),
    };
    this.links.add(link);
    if (!this.isUp) this.#reconnect(link);
    return link;
  }

  close(link: Link): void {
    link.closed = true;
    link.connected = false;
    this.links.delete(link);
    for (const interest of this.interests) {
      if (interest.link !== link) continue;
      this.interests.delete(interest);
      interest.end();
    }
    this.offers.drop(link);
  }

  /** The connection is lost and comes back after a while. */
  cut(link: Link, forMs: number): void {
    if (link.closed || !link.connected) return;
    this.engine.note(link.owner, 'disconnected');
    link.connected = false;
    this.offers.drop(link);
    this.engine.after(this.engine.world, forMs, 'link', () => this.#reconnect(link));
  }

  #reconnect(link: Link): void {
    this.engine.after(link.owner, this.engine.random.next() * 300, 'reconnected', () => {
      if (link.closed || link.connected) return;
      if (!this.isUp) return this.#reconnect(link);
      link.connected = true;
      link.connectedAt = this.engine.now;
      for (const callback of link.onReconnect) callback();
    });
  }

  /** nats-server is killed and started again; acknowledgements of its last second are forgotten. */
  restart(downMs: number, loseBehind: number | null): void {
    const { engine } = this;
    engine.note(engine.world, 'server down');
    this.isUp = false;
    for (const link of this.links) link.connected = false;
    this.#tails.clear();
    if (loseBehind !== null) this.stream.loseBehind(loseBehind);
    this.offers.restart();
    engine.after(engine.world, downMs, 'server up', () => {
      this.isUp = true;
      for (const link of this.links) this.#reconnect(link);
    });
  }

  /**
   * Takes a request to the server, has it handled there, and its answer back. `handle` runs at the server; null means
   * that it does not answer. Gives the outcome at most once; a lost one gives none.
   */
  carry<T>(
    link: Link,
    what: string,
    handle: () => Outcome<T> | Promise<Outcome<T>>,
    settle: (outcome: Outcome<T>) => void,
  ): void {
    const { engine, weather } = this;
    if (!link.connected) {
      // The client keeps what it could not send; whether it is sent after the reconnect is chance.
      if (this.strikes(0.3)) return;
      const resend = () => {
        link.onReconnect.delete(resend);
        this.carry(link, what, handle, settle);
      };
      link.onReconnect.add(resend);
      return;
    }
    if (this.strikes(weather.loseRequest)) {
      engine.note(link.owner, `${what} lost`);
      return;
    }
    const delay = this.strikes(weather.late) ? 5000 + engine.random.next() * 4000 : this.latency();
    engine.after(engine.world, delay, `handles ${what} of ${link.owner.name}`, () => {
      if (!this.isUp) return;
      const answer = (outcome: Outcome<T>) => {
        if (outcome.kind === 'none') return;
        if (this.strikes(weather.loseReply)) {
          engine.note(link.owner, `answer of ${what} lost`);
          return;
        }
        engine.after(link.owner, this.latency(), `hears of ${what}`, () => {
          if (link.connected) settle(outcome);
        });
      };
      const handled = handle();
      if (handled instanceof Promise) void handled.then(answer);
      else answer(handled);
    });
  }

  /** The last sequence that a read may see: that of a copy which lags, now and then. */
  seenSeq(): number {
    const { lastSeq } = this.stream;
    return this.strikes(this.weather.lag) ? Math.max(0, lastSeq - this.engine.random.integer(1, 6)) : lastSeq;
  }

  /** A publication reaches the stream. */
  store(subject: string, data: Uint8Array, headers: Readonly<Record<string, string>>, sentAt: number): object {
    const { engine, weather, stream } = this;
    if (this.strikes(weather.transient)) return { error: { code: 503, err_code: 10008, description: 'unavailable' } };
    const at = { now: engine.now, dedupeMs: weather.dedupeMs, replicas: weather.replicas };
    const id = headers['Nats-Msg-Id'];
    if (this.strikes(weather.foreign)) this.#stored(stream.publish(subject, encoder.encode('{}'), {}, at));
    if (id !== undefined && this.strikes(weather.sameIdElsewhere)) {
      this.#stored(stream.publish('journal.other', encoder.encode('{}'), { 'Nats-Msg-Id': id }, at));
    }
    const answer = stream.publish(subject, data, headers, at);
    engine.note(engine.world, `${subject} ${JSON.stringify(answer)} ${data.length}`);
    this.#stored(answer, sentAt);
    if (answer.kind === 'wrong-sequence') {
      return { error: { code: 400, err_code: 10071, description: `wrong last sequence: ${answer.lastSeq}` } };
    }
    return { stream: JOURNAL, seq: answer.seq, ...(answer.duplicate ? { duplicate: true } : {}) };
  }

  #stored(answer: ReturnType<SimulatedStream['publish']>, sentAt = this.engine.now): void {
    if (answer.kind !== 'stored' || answer.duplicate) return;
    const message = this.stream.at(answer.seq);
    if (message !== undefined) this.onStored(message, sentAt);
    for (const tail of this.#tails.values()) this.#pump(tail);
    this.offers.give();
  }

  addTail(tail: TailConsumer): void {
    this.#tails.set(tail.name, tail);
  }

  removeTail(name: string): void {
    this.#tails.delete(name);
  }

  hasTail(name: string): boolean {
    return this.#tails.has(name);
  }

  /** Sends a tail everything that it has not been sent. */
  pump(name: string): void {
    const tail = this.#tails.get(name);
    if (tail !== undefined) this.#pump(tail);
  }

  #pump(tail: TailConsumer): void {
    const { engine, stream, weather } = this;
    if (tail.take === null || !tail.link.connected) return;
    for (; tail.nextSeq <= stream.lastSeq; tail.nextSeq += 1) {
      const message = stream.at(tail.nextSeq);
      if (message === undefined) continue;
      tail.delivered += 1;
      const delivery = tail.delivered;
      if (this.strikes(weather.tailLoss)) {
        if (engine.random.next() < 0.5) {
          // Whatever lost it also kept the heartbeats away for a moment.
          engine.after(tail.link.owner, 10_000, 'heartbeats missed', () => tail.lost?.('heartbeats_missed'));
          continue;
        }
        this.#tails.delete(tail.name);
        engine.after(tail.link.owner, this.latency(), 'consumer deleted', () => tail.lost?.('consumer_deleted'));
        return;
      }
      tail.lastDue = Math.max(tail.lastDue, engine.now + this.latency());
      engine.after(tail.link.owner, tail.lastDue - engine.now, `gets ${message.streamSeq}`, () => {
        if (tail.link.connected) tail.take?.(message, delivery);
      });
      // In the order of the stream: nothing may become due at the very same moment.
      tail.lastDue += 0.001;
    }
  }

  /** Somebody who listens to a subject; of a queue one is drawn. */
  listener(subject: string): Interest | null {
    const all = [...this.interests].filter(
      ({ link, subject: filter }) => link.connected && link.owner.alive && matchesFilter(filter, subject),
    );
    return all.length === 0 ? null : this.engine.random.pick(all);
  }
}

/** True where a stored message is a commit of ours. */
export function isCommit(message: SimulatedMessage): boolean {
  return message.headers[COMMIT_HEADER] === '1';
}
