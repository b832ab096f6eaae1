import { type Bus, connectBus } from '@rookery/bus';
import { getBatch, type Journal, openJournal, type StreamFacts, type Tail, type TailMessage } from '@rookery/journal';
import type { Projection } from '@rookery/kernel';
import { AppError, limits, toAppError } from '@rookery/protocol';
import { type Applied, Applier } from './applier.ts';
import { isCorruption, isPassing } from './database.ts';
import { faultOf } from './fault.ts';
import { holeError } from './identity.ts';
import { type PreparedFile, prepareFile } from './prepare-file.ts';
import { type RebuildSite, rebuild } from './rebuild.ts';
import { type Patience, readWhole, recognise } from './recognise.ts';
import {
  type Counts,
  type FromWorker,
  type ProjectorData,
  packCommits,
  type RebuildResult,
} from './worker-messages.ts';

const RETRY_MS = 200;
const LOOK_MS = 20;
/** Time for a tail to give up its consumer before the connection is closed. */
const ORDERLY_MS = 500;
/** Messages of one batch above which it is taken for a page of a replay, not for what has just been written. */
const LIVE_BATCH = 64;
/** Bytes of commits on their way to the main thread above which applying waits for it. */
const MAX_UNDERWAY = 16 * 1024 * 1024;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

type Post = (message: FromWorker, transfer?: ArrayBuffer[]) => void;

/** Where a projector finds its file and its stream. */
export interface ProjectorPorts {
  prepare(): PreparedFile;
  connect(): Promise<Bus>;
}

const portsOf = (data: ProjectorData, projection: Projection): ProjectorPorts => ({
  prepare: () => prepareFile(data.path, projection, data),
  connect: () => connectBus({ ...data.connection, publishTimeoutMs: data.timings.publishTimeoutMs }),
});

/** Follows a stream and keeps one read model up to it. The only writer of its file. */
export class Projector {
  readonly #data: ProjectorData;
  readonly #post: Post;
  readonly #ports: ProjectorPorts;
  readonly #projection: Projection;
  #file: PreparedFile;
  #path: string;
  #applier: Applier;
  #deliveredSeq: number | null;
  #underway = 0;
  #taken: (() => void) | null = null;
  #stalled = false;
  #stopped = false;
  #ended: AppError | null = null;
  /** While a rebuild compares and swaps: nothing is applied. */
  #held: Promise<void> | null = null;
  #rebuilding: Promise<unknown> | null = null;
  #moved: (() => void) | null = null;
  /** False from a (re)connect until the journal was compared with the checkpoint. */
  #recognised = false;
  #bus: Bus | null = null;
  #journal: Journal | null = null;
  #tail: Tail | null = null;

  constructor(data: ProjectorData, projection: Projection, post: Post, ports = portsOf(data, projection)) {
    this.#data = data;
    this.#post = post;
    this.#ports = ports;
    this.#projection = projection;
    this.#path = data.path;
    this.#deliveredSeq = data.deliveredSeq;
    this.#file = ports.prepare();
    this.#applier = new Applier(this.#file.db, projection, data.handOut);
    post({
      type: 'opened',
      rebuilt: this.#file.rebuilt,
      appliedSeq: this.#applier.checkpoint.appliedSeq,
      counts: this.#counts(),
    });
  }

  /** Connects, which waits for the server, and follows the stream from the checkpoint. */
  async start(): Promise<void> {
    const { stream, restMs } = this.#data;
    const bus = await this.#ports.connect();
    if (this.#stopped) return await bus.close();
    this.#bus = bus;
    bus.onReconnect(() => {
      this.#recognised = false;
    });
    this.#journal = openJournal(bus, { stream });
    this.#tail = this.#journal.tail({
      begin: (facts) => this.#begin(bus, facts),
      onBatch: async (batch) => {
        await this.#apply(bus, batch);
        // What comes meanwhile joins the next transaction. A page is not made to wait: it is full.
        if (restMs > 0 && batch.length < LIVE_BATCH && !this.#stopped) await pause(restMs);
      },
      onState: (state) => {
        if (state !== 'waiting') return;
        this.#recognised = false;
        this.#post({ type: 'waiting' });
      },
      onEnd: (error) => this.#end(error),
    });
  }

  /** The last sequence of the stream, as soon as it can be asked and has been recognised. */
  async lastSeq(): Promise<number> {
    for (;;) {
      try {
        const facts = this.#recognised ? await this.#journal?.info() : undefined;
        const { created, appliedSeq } = this.#applier.checkpoint;
        // Otherwise it was replaced a moment ago: the tail is about to find out.
        if (facts?.created === created && facts.lastSeq >= appliedSeq) return facts.lastSeq;
      } catch (error) {
        if (toAppError(error).code === 'PERMISSION_VIOLATION') throw error;
      }
      if (this.#stopped || this.#ended !== null) throw new AppError('SHUTTING_DOWN');
      await pause(LOOK_MS);
    }
  }

  taken(bytes: number): void {
    this.#underway -= bytes;
    this.#taken?.();
  }

  /** A request to a server that does not answer is not waited for: its connection is closed under it. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#taken?.();
    this.#moved?.();
    const stopping = this.#tail?.stop();
    await Promise.race([stopping, pause(ORDERLY_MS)]);
    await this.#bus?.close();
    await stopping;
    await this.#rebuilding?.catch(() => undefined);
    this.#file.db.close();
  }

  /** The main thread reads from the file in force. */
  moved(): void {
    this.#moved?.();
  }

  /**
   * Builds the next generation of the file from the stream while this one serves, puts it in force, and compares both at
   * the sequence of the change. SERVICE_UNAVAILABLE while another one is under way or before the journal was recognised,
   * SHUTTING_DOWN, STORAGE_LOW, and what ends applying. Until it is in force nothing has changed.
   */
  rebuild(path: string): Promise<RebuildResult> {
    if (this.#rebuilding !== null) return Promise.reject(new AppError('SERVICE_UNAVAILABLE'));
    const rebuilding = rebuild(this.#site(), path).finally(() => {
      this.#rebuilding = null;
    });
    this.#rebuilding = rebuilding;
    return rebuilding;
  }

  /** What is missing from a stream may still come. */
  get #patience(): Patience {
    return { timeoutMs: this.#data.timings.publishTimeoutMs, isStopped: () => this.#stopped };
  }

  #requireAlive(): void {
    if (this.#stopped) throw new AppError('SHUTTING_DOWN');
    if (this.#ended !== null) throw this.#ended;
  }

  /** What a rebuild sees of this projector. */
  #site(): RebuildSite {
    return {
      projection: this.#projection,
      data: this.#data,
      live: () => ({ path: this.#path, db: this.#file.db, applier: this.#applier }),
      journal: () => {
        this.#requireAlive();
        return this.#recognised && this.#bus !== null && this.#journal !== null
          ? { bus: this.#bus, journal: this.#journal }
          : null;
      },
      patience: this.#patience,
      onProgress: (appliedSeq, lastSeq) => this.#post({ type: 'building', appliedSeq, lastSeq }),
      hold: () => {
        let release = (): void => undefined;
        this.#held = new Promise((resolve) => {
          release = resolve;
        });
        return () => {
          this.#held = null;
          release();
        };
      },
      install: ({ path, file, applier }) => {
        this.#path = path;
        this.#file = file;
        this.#applier = applier;
        const moved = new Promise<void>((resolve) => {
          this.#moved = resolve;
          if (this.#stopped) resolve();
        });
        this.#post({ type: 'swapped', path });
        return moved;
      },
    };
  }

  #counts(): Counts {
    const { appliedCount, foreignCount, skippedCount } = this.#applier.checkpoint;
    return { appliedCount, foreignCount, skippedCount, quarantined: this.#applier.quarantined };
  }

  #end(error: AppError): void {
    this.#ended = error;
    if (isCorruption(error.cause)) this.#post({ type: 'corrupt' });
    else this.#post({ type: 'ended', error: faultOf(error).toBody() });
  }

  /** Nothing is applied before the journal has been recognised. */
  async #begin(bus: Bus, first: StreamFacts): Promise<number> {
    let facts = first;
    let looks = 0;
    await this.#patiently(async () => {
      if (looks > 0) facts = await this.#facts(facts);
      looks += 1;
      const [journal, applier] = [this.#journal, this.#applier];
      if (journal !== null) await recognise({ bus, journal, applier, facts }, this.#patience);
    });
    this.#recognised = true;
    const { appliedSeq } = this.#applier.checkpoint;
    this.#deliveredSeq ??= Math.max(appliedSeq, facts.lastSeq - limits.replayRing);
    this.#post({ type: 'began', lastSeq: facts.lastSeq, deliveredSeq: this.#deliveredSeq });
    return appliedSeq + 1;
  }

  /** Repeats a read of the stream: an answer that did not come says nothing about the journal. */
  async #patiently<T>(read: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await read();
      } catch (error) {
        if (toAppError(error).retry === 'never' || this.#stopped) throw error;
        this.#post({ type: 'waiting' });
        await pause(RETRY_MS);
      }
    }
  }

  async #facts(known: StreamFacts): Promise<StreamFacts> {
    try {
      return (await this.#journal?.info()) ?? known;
    } catch {
      return known;
    }
  }

  async #apply(bus: Bus, batch: TailMessage[]): Promise<void> {
    let messages = batch;
    while (!this.#stopped) {
      if (this.#held !== null) {
        await this.#held;
        continue;
      }
      const applied = this.#attempt(messages);
      if (applied === null) {
        await pause(RETRY_MS);
        continue;
      }
      while (this.#underway > MAX_UNDERWAY && !this.#stopped) {
        await new Promise<void>((resolve) => {
          this.#taken = resolve;
        });
      }
      const { stop } = applied;
      if (stop === null) return;
      if (stop.reason === 'too_new') {
        throw new AppError('READMODEL_TOO_OLD', { details: { streamSeq: stop.streamSeq, found: stop.detail } });
      }
      messages = [...(await this.#missing(bus, stop)), ...messages];
    }
  }

  /** Applies and hands out. Null where the disk or a lock does not let it happen now. */
  #attempt(messages: readonly TailMessage[]): Applied | null {
    const accepted: TailMessage[] = [];
    const before = this.#applier.checkpoint.appliedSeq;
    try {
      const applied = this.#applier.apply(messages, accepted);
      this.#stalled = false;
      this.#deliver(accepted);
      return applied;
    } catch (error) {
      // The transactions before the one that failed are committed: the next attempt passes their commits over.
      if (this.#applier.checkpoint.appliedSeq > before) this.#deliver(accepted);
      if (!isPassing(error)) throw error;
      if (!this.#stalled) {
        const details = { sqlite: (error as { code?: unknown }).code };
        this.#post({ type: 'stalled', error: new AppError('STORAGE_LOW', { details }).toBody() });
      }
      this.#stalled = true;
      return null;
    }
  }

  /** Messages that the tail passed over: read by sequence they are there, or the stream has lost them. */
  async #missing(bus: Bus, { after, found }: { after: number; found: number }): Promise<TailMessage[]> {
    const query = { fromSeq: after + 1, max: Math.min(found - after - 1, 1000) };
    const { messages } = await readWhole(
      () => this.#patiently(() => getBatch(bus, this.#data.stream, query)),
      (read) => read.messages.length > 0 || this.#applier.isErased(after + 1, found - 1),
      this.#patience,
    );
    const first = messages[0]?.streamSeq ?? found;
    if (first !== after + 1 && !this.#applier.isErased(after + 1, first - 1)) throw holeError(after, first);
    return messages;
  }

  #deliver(accepted: readonly TailMessage[]): void {
    const from = this.#deliveredSeq ?? 0;
    const commits = packCommits(accepted.filter((message) => message.streamSeq > from));
    const { appliedSeq } = this.#applier.checkpoint;
    this.#deliveredSeq = Math.max(from, appliedSeq);
    this.#underway += commits.bytes.length;
    this.#post({ type: 'applied', appliedSeq, counts: this.#counts(), commits }, [commits.bytes.buffer]);
  }
}
