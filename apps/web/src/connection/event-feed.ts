import type { Result } from '../wire/methods.ts';
import type { WireEvent } from '../wire/types.ts';
import { placeEvent } from './event-order.ts';
import { RpcError } from './rpc-error.ts';

export interface FeedPorts {
  replay: (afterSeq: number) => Promise<Result<'event.replay'>>;
  apply: (events: readonly WireEvent[]) => void;
  /** The feed is too far behind, or replay was refused as too far: load the lists again. */
  restart: () => void;
}

/** Pages of 500 events after which loading the lists is cheaper than catching up. */
const MAX_PAGES = 40;
const REPLAY_LAG_MS = 200;
/** Wait before a replay that the server could not give is asked for again. */
const RETRY_MS = 1000;

/**
 * Puts live events and replayed pages into one gapless, rising order.
 * Before `begin` and while a replay runs, live events wait in a buffer.
 */
export class EventFeed {
  lastSeq = 0;
  #begun = false;
  #replaying = false;
  #buffer: WireEvent[] = [];
  /** Where the last gap stood; the same one again means that replay lags behind the live events. */
  #gapAt = -1;
  #ports: FeedPorts;

  constructor(ports: FeedPorts) {
    this.#ports = ports;
  }

  /** Starts at a snapshot's seq; what arrived meanwhile follows. */
  async begin(seq: number): Promise<void> {
    this.lastSeq = seq;
    this.#begun = true;
    await this.#drain();
  }

  /** Catches up after a reconnect, before any buffered live event is applied. */
  async resume(): Promise<void> {
    await this.#catchUp();
  }

  push(event: WireEvent): void {
    if (!this.#begun || this.#replaying) {
      this.#buffer.push(event);
      return;
    }
    const placement = placeEvent(this.lastSeq, event);
    if (placement === 'apply') this.#apply([event]);
    if (placement === 'gap') {
      this.#buffer.push(event);
      this.#fillGap();
    }
  }

  /** Replays what lies before a live event, until it succeeds: that event may be the last for long. */
  #fillGap(): void {
    this.#catchUp().catch((error: unknown) => {
      // The connection fell; the next one resumes from lastSeq.
      if (error instanceof RpcError && error.failure === 'disconnected') return;
      setTimeout(() => {
        if (this.#buffer.length > 0) this.#fillGap();
      }, RETRY_MS);
    });
  }

  /** Forgets live events of a connection that is gone; replay brings them again. */
  dropBuffer(): void {
    this.#buffer = [];
  }

  async #catchUp(): Promise<void> {
    if (this.#replaying) return;
    this.#replaying = true;
    try {
      for (let page = 0; ; page += 1) {
        if (page === MAX_PAGES) return this.#restart();
        const answer = await this.#replay();
        if (answer === null) return;
        const { events, nextAfterSeq, hasMore } = answer;
        this.#apply(events.filter((event) => event.seq > this.lastSeq));
        this.lastSeq = Math.max(this.lastSeq, nextAfterSeq);
        if (!hasMore) break;
      }
    } finally {
      this.#replaying = false;
    }
    await this.#drain();
  }

  /** A page behind lastSeq; null where the server will never give it, as too much was missed. */
  async #replay(): Promise<Result<'event.replay'> | null> {
    try {
      return await this.#ports.replay(this.lastSeq);
    } catch (error) {
      if (!(error instanceof RpcError) || error.unconfirmed) throw error;
      this.#restart();
      return null;
    }
  }

  #restart(): void {
    this.#buffer = [];
    this.#ports.restart();
  }

  async #drain(): Promise<void> {
    const waiting = this.#buffer.sort((a, b) => a.seq - b.seq);
    this.#buffer = [];
    for (const [index, event] of waiting.entries()) {
      const placement = placeEvent(this.lastSeq, event);
      if (placement === 'apply') this.#apply([event]);
      if (placement === 'gap') {
        this.#buffer.push(...waiting.slice(index));
        if (this.#gapAt === this.lastSeq) await new Promise((resolve) => setTimeout(resolve, REPLAY_LAG_MS));
        this.#gapAt = this.lastSeq;
        return this.#catchUp();
      }
    }
  }

  #apply(events: readonly WireEvent[]): void {
    const last = events.at(-1);
    if (!last) return;
    this.lastSeq = last.seq;
    this.#ports.apply(events);
  }
}
