import { agentRuns } from '@rookery/protocol';
import type { Link, SimulatedServer } from './server.ts';
import { matchesFilter, type SimulatedMessage } from './stream.ts';

/** A fetch of the shared consumer that waits for offers. */
export interface Fetch {
  readonly link: Link;
  left: number;
  take(message: SimulatedMessage): void;
  end(): void;
}

/**
 * The durable consumer that offers submissions to the agents: each to one fetch, again after its time where no
 * acknowledgement came. Acknowledgements are not durable: a killed server forgets those of its last second.
 */
export class SharedConsumer {
  readonly #server: SimulatedServer;
  readonly #fetches = new Set<Fetch>();
  #offered = 0;
  /** Offers given out, by sequence, with the time at which they come again. */
  readonly #unacked = new Map<number, number>();
  readonly #acked: { seq: number; at: number }[] = [];

  constructor(server: SimulatedServer) {
    this.#server = server;
  }

  /** Nobody at the other end of a connection waits any more. */
  drop(link: Link): void {
    for (const fetch of this.#fetches) if (fetch.link === link) this.#fetches.delete(fetch);
  }

  restart(): void {
    const { engine, stream } = this.#server;
    this.#fetches.clear();
    for (const { seq, at } of this.#acked) if (engine.now - at < 1000) this.#unacked.set(seq, engine.now);
    this.#acked.length = 0;
    this.#offered = Math.min(this.#offered, stream.lastSeq);
  }

  /** A fetch waits for what it may have. */
  add(fetch: Fetch): void {
    this.#fetches.add(fetch);
    this.give();
  }

  remove(fetch: Fetch): void {
    this.#fetches.delete(fetch);
  }

  /** Gives the fetches that wait what there is. */
  give(): void {
    const { engine, stream } = this.#server;
    for (const fetch of engine.random.shuffle([...this.#fetches])) {
      while (fetch.left > 0) {
        const seq = this.#nextOffer();
        const message = seq === null ? undefined : stream.at(seq);
        if (seq === null || message === undefined) return;
        this.#unacked.set(seq, engine.now + agentRuns.ackWaitMs);
        fetch.left -= 1;
        engine.after(fetch.link.owner, this.#server.latency(), `is offered ${seq}`, () => {
          if (fetch.link.connected) fetch.take(message);
        });
      }
      this.#fetches.delete(fetch);
      engine.after(fetch.link.owner, this.#server.latency(), 'fetch is full', () => fetch.end());
    }
  }

  #nextOffer(): number | null {
    for (const [seq, again] of this.#unacked) if (again <= this.#server.engine.now) return seq;
    while (this.#offered < this.#server.stream.lastSeq) {
      this.#offered += 1;
      const message = this.#server.stream.at(this.#offered);
      if (message !== undefined && matchesFilter(agentRuns.filter, message.subject)) return this.#offered;
    }
    return null;
  }

  /** An offer is acknowledged, unless that is lost. */
  ack(link: Link, seq: number): void {
    if (!link.connected || this.#server.strikes(this.#server.weather.loseAck)) return;
    this.#server.engine.after(this.#server.engine.world, this.#server.latency(), `ack ${seq}`, () => {
      if (!this.#server.isUp) return;
      this.#unacked.delete(seq);
      this.#acked.push({ seq, at: this.#server.engine.now });
    });
  }
}
