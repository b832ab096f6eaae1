import { type EventFilter, type StoredCommit, seqOf, streamSeqOf } from '@rookery/protocol';
import { type CommitSource, encodeCommit, loadEvents, visibleThread } from './commit-source.ts';
import { filterKey, matches, normalFilter } from './filter.ts';
import { eventJson, eventJsonAfter, type HubEvent, notificationFrame } from './hub-event.ts';
import { EventRing } from './ring.ts';

export interface Subscriber {
  /** Protocol of the client: 12 gets the ten keys, 13 also prevSeq. */
  readonly protocol: number | null;
  deliver(event: HubEvent, frame: Buffer): void;
}

/** What the read model has applied, in stream order. */
export interface AppliedCommits {
  commits: StoredCommit[];
  appliedSeq: number;
}

export interface HubOptions {
  source: CommitSource;
  /** Seq of the last event before `beforeSeq` in the journal that matches, 0 for none. */
  searchBack: (filter: EventFilter | null, beforeSeq: number) => Promise<number>;
  ringEvents: number;
  ringChars: number;
  /** A commit could not be looked at, or a blob of it not be fetched; it is tried again. */
  onDelay: (error: unknown) => void;
}

/** Subscribers that want the same events, and the seq of the last one of them. */
interface Group {
  filter: EventFilter | null;
  lastSeq: number;
  members: Set<Subscriber>;
  /** Subscribers on their way in; the group is kept for them. */
  pins: number;
}

const FIRST_WITH_PREVIOUS = 13;
/** Events handed out before sockets get a chance to send. */
const SLICE = 128;
const RETRY_MS = 200;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const breathe = () => new Promise((resolve) => setImmediate(resolve));

/** Hands every applied event to all who want it: read once, encoded once, in one order. */
export class EventHub {
  readonly ring: EventRing;
  readonly #options: HubOptions;
  readonly #all: Group = { filter: null, lastSeq: 0, members: new Set(), pins: 1 };
  /** Groups whose last event is still being searched for. */
  readonly #searching = new Set<Group>();
  readonly #groups = new Map<string, Group>([[filterKey(null), this.#all]]);
  #backlog: AppliedCommits[] = [];
  #working = false;
  #started = false;
  #streamSeq = 0;
  #waiters: (() => void)[] = [];

  constructor(options: HubOptions) {
    this.#options = options;
    this.ring = new EventRing(options.ringEvents, options.ringChars);
  }

  /** Seq of the last conversation event that was handed out. */
  get latestSeq(): number {
    return this.#all.lastSeq;
  }

  /** Stream sequence up to which everything was handed out. */
  get streamSeq(): number {
    return this.#streamSeq;
  }

  /** First stream sequence that has arrived and waits for `start`, null for none. */
  get firstWaiting(): number | null {
    return this.#backlog[0]?.commits[0]?.streamSeq ?? null;
  }

  /** Where the read model stood before the first batch; batches that came earlier are handed out now. */
  start(base: { streamSeq: number; latestSeq: number }): void {
    this.#streamSeq = base.streamSeq;
    this.#all.lastSeq = base.latestSeq;
    this.ring.reset(base.latestSeq);
    this.#started = true;
    if (!this.#working) void this.#work();
  }

  /** Takes what the read model has applied. */
  ingest(batch: AppliedCommits): void {
    this.#backlog.push(batch);
    if (this.#started && !this.#working) void this.#work();
  }

  /**
   * Joins a subscriber to a filter as soon as the events before are known, and gives the seq of the last of them.
   * `beforeJoin` is where the subscriber leaves what it had.
   */
  async join(
    subscriber: Subscriber,
    filter: EventFilter | null,
    beforeJoin: () => void = () => undefined,
  ): Promise<{ latestSeq: number; leave: () => void }> {
    const group = await this.#pinned(normalFilter(filter));
    beforeJoin();
    const leave = this.#add(group, subscriber);
    group.pins -= 1;
    return { latestSeq: group.lastSeq, leave };
  }

  /** Joins a subscriber to all conversation events at once. */
  joinAll(subscriber: Subscriber): () => void {
    return this.#add(this.#all, subscriber);
  }

  /** Resolves when everything that has arrived until now was handed out. */
  async idle(): Promise<void> {
    if (this.#working) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  /** Seq of the last conversation event at or before a stream sequence. */
  latestAt(streamSeq: number): number {
    if (streamSeqOf(this.latestSeq) <= streamSeq) return this.latestSeq;
    for (const event of this.ring.backFrom(this.latestSeq)) if (streamSeqOf(event.seq) <= streamSeq) return event.seq;
    return this.ring.base;
  }

  /** The group of a filter, with its last event known, kept until the caller has taken its pin back. */
  async #pinned(filter: EventFilter | null): Promise<Group> {
    const key = filterKey(filter);
    const take = (group: Group) => {
      group.pins += 1;
      return group;
    };
    const known = this.#groups.get(key);
    if (known) return take(known);
    const fresh: Group = { filter, lastSeq: 0, members: new Set(), pins: 0 };
    // Followed from now on, so that nothing is missed while the past is searched.
    this.#searching.add(fresh);
    try {
      const past = await this.#lastInPast(filter, seqOf(this.#streamSeq + 1, 0));
      const other = this.#groups.get(key);
      if (other) return take(other);
      fresh.lastSeq = Math.max(fresh.lastSeq, past);
      this.#groups.set(key, fresh);
      return take(fresh);
    } finally {
      this.#searching.delete(fresh);
    }
  }

  async #lastInPast(filter: EventFilter | null, beforeSeq: number): Promise<number> {
    for (const event of this.ring.backFrom(beforeSeq - 1)) if (matches(event, filter)) return event.seq;
    if (this.ring.base === 0) return 0;
    return await this.#options.searchBack(filter, this.ring.base + 1);
  }

  #add(group: Group, subscriber: Subscriber): () => void {
    group.members.add(subscriber);
    return () => {
      group.members.delete(subscriber);
      if (group.members.size === 0 && group.pins === 0) this.#groups.delete(filterKey(group.filter));
    };
  }

  async #work(): Promise<void> {
    this.#working = true;
    try {
      // No await around the loop: what comes right after its end must find that nobody works.
      let sinceBreath = 0;
      for (let batch = this.#backlog.shift(); batch !== undefined; batch = this.#backlog.shift()) {
        for (const stored of batch.commits) {
          const events = this.#eventsOf(stored);
          for (const event of events instanceof Promise ? await events : events) {
            this.#handOut(event);
            sinceBreath += 1;
          }
          this.#advance(stored.streamSeq);
          if (sinceBreath >= SLICE) {
            sinceBreath = 0;
            await breathe();
          }
        }
        this.#advance(batch.appliedSeq);
      }
    } catch (error) {
      this.#options.onDelay(error);
    } finally {
      this.#working = false;
      const waiters = this.#waiters;
      this.#waiters = [];
      for (const resolve of waiters) resolve();
    }
  }

  #eventsOf(stored: StoredCommit): HubEvent[] | Promise<HubEvent[]> {
    const { source } = this.#options;
    try {
      if (visibleThread(source, stored) === null) return [];
      return source.hasBlobs(stored) ? this.#fetch(stored) : encodeCommit(stored);
    } catch (error) {
      // What it is asked of, such as a view that is being built anew, is away for now.
      this.#options.onDelay(error);
      return this.#fetch(stored);
    }
  }

  async #fetch(stored: StoredCommit): Promise<HubEvent[]> {
    for (;;) {
      try {
        return await loadEvents(this.#options.source, stored);
      } catch (error) {
        // Order is kept: nothing later goes out before this one.
        this.#options.onDelay(error);
        await pause(RETRY_MS);
      }
    }
  }

  #handOut(event: HubEvent): void {
    this.ring.push(event);
    for (const group of this.#searching) if (matches(event, group.filter)) group.lastSeq = event.seq;
    let plain: Buffer | null = null;
    for (const group of this.#groups.values()) {
      if (!matches(event, group.filter)) continue;
      const previous = group.lastSeq;
      group.lastSeq = event.seq;
      let linked: Buffer | null = null;
      for (const member of group.members) {
        if ((member.protocol ?? 0) >= FIRST_WITH_PREVIOUS) {
          linked ??= notificationFrame(eventJsonAfter(event, previous));
          member.deliver(event, linked);
        } else {
          plain ??= notificationFrame(eventJson(event));
          member.deliver(event, plain);
        }
      }
    }
  }

  #advance(streamSeq: number): void {
    if (streamSeq > this.#streamSeq) this.#streamSeq = streamSeq;
  }
}
