import { type Offers, openOffers } from '@rookery/journal';
import { parseInstance, parseSubject, toAppError } from '@rookery/protocol';
import { applyingError } from '@rookery/read-model';
import { logError } from '@rookery/service';
import type { AgentDeps } from '../deps.ts';
import { passes, RETRY_MS, untilAnswered } from '../passing.ts';
import { type LeftSteer, leftSteers, type RunRow, runsOfOthers, startableRuns } from '../queries.ts';
import { RunHolder } from './holder.ts';
import { OrphanWatch, settleForAnother } from './orphans.ts';

const OFFER_WAIT_MS = 10_000;
/** How long an offer waits for the own view to reach it before it is left to the sweep. */
const OFFER_LEVEL_MS = 2000;
const SWEEP_LIMIT = 200;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Turns a left steer into a turn; given by the commands, since it is a submission like any other. */
export type SubmitSteer = (steer: LeftSteer) => Promise<void>;

/** Decides which runs this instance works on. Offers and sweeps are hints; the claim in the journal decides. */
export class Scheduler {
  readonly #deps: AgentDeps;
  readonly #workers: number;
  readonly #offers: Offers;
  readonly #orphans: OrphanWatch;
  readonly #submitSteer: SubmitSteer;
  readonly #holders = new Map<string, RunHolder>();
  /** Runs whose claim is under way or was decided here: not tried again by the next sweep. */
  readonly #tried = new Set<string>();
  readonly #stopped = new AbortController();
  #attempts = 0;
  #stopping = false;
  #pulling: Promise<void> | null = null;
  #sweeping: Promise<void> | null = null;
  #slotFree: () => void = () => undefined;
  #timer: NodeJS.Timeout | null = null;
  #removeReconnect: () => void = () => undefined;

  constructor(deps: AgentDeps, workers: number, submitSteer: SubmitSteer) {
    this.#deps = deps;
    this.#workers = workers;
    this.#submitSteer = submitSteer;
    this.#orphans = new OrphanWatch(deps);
    this.#offers = openOffers(deps.bus, (error) => deps.log.warn({ code: error.code }, 'offers are away'));
  }

  start(): void {
    this.#pulling = this.#pull();
    this.#timer = setInterval(() => this.#sweep(), this.#deps.timings.sweepMs);
    this.#removeReconnect = this.#deps.bus.onReconnect(() => this.#sweep());
    this.#sweep();
  }

  /** The run with that id, if this instance holds it. */
  holder(runId: string): RunHolder | null {
    return this.#holders.get(runId) ?? null;
  }

  get active(): number {
    return this.#holders.size;
  }

  /** Looks for work in the own view, soon. */
  #sweep(): void {
    if (this.#sweeping !== null || this.#stopping) return;
    this.#sweeping = this.#sweepOnce()
      .catch((error: unknown) => logError(this.#deps.log, 'sweep failed', toAppError(error)))
      .finally(() => {
        this.#sweeping = null;
      });
  }

  async #sweepOnce(): Promise<void> {
    for (const steer of this.#deps.model.read(leftSteers)) await this.#trySubmit(steer);
    for (const run of this.#deps.model.read((db) => startableRuns(db, SWEEP_LIMIT))) {
      if (this.#free() <= 0) break;
      this.#tryStart(run);
    }
    await this.#settleOrphans();
  }

  /** A steer that cannot be submitted now waits for the next sweep, and keeps nothing else waiting. */
  async #trySubmit(steer: LeftSteer): Promise<void> {
    try {
      await this.#submitSteer(steer);
    } catch (error) {
      logError(this.#deps.log.child({ runId: steer.runId }), 'steer not submitted', toAppError(error));
    }
  }

  async #settleOrphans(): Promise<void> {
    const { instance, model } = this.#deps;
    const own = parseInstance(instance);
    for (const run of model.read((db) => runsOfOthers(db, instance))) {
      if (run.holder === null || this.#stopping) continue;
      const place = parseInstance(run.holder);
      const isPredecessor = place.place === own.place && place.boot !== own.boot;
      if (!(await this.#orphans.isGone(run.holder, isPredecessor))) continue;
      try {
        const result = await settleForAnother(this.#deps, run, { status: 'failed', reasonCode: 'runtime_interrupted' });
        if (result.settled === null) continue;
        this.#deps.log.info({ runId: run.runId, holder: run.holder }, 'settled the run of an instance that is gone');
        await this.afterSettled(run.threadId, result.settled);
      } catch (error) {
        logError(this.#deps.log.child({ runId: run.runId }), 'orphan not settled', toAppError(error));
      }
    }
  }

  #free(): number {
    return this.#workers - this.#holders.size;
  }

  async #pull(): Promise<void> {
    while (!this.#stopping) {
      const free = this.#free();
      if (free <= 0) {
        await new Promise<void>((resolve) => {
          this.#slotFree = resolve;
        });
        continue;
      }
      await this.#offers.pull(free, OFFER_WAIT_MS, (offer) => {
        const subject = parseSubject(offer.subject);
        if (subject?.kind !== 'turns') return offer.ack();
        void this.#takeOffer(subject.threadId, offer.streamSeq).finally(() => offer.ack());
      });
    }
  }

  async #takeOffer(threadId: string, streamSeq: number): Promise<void> {
    try {
      await this.#deps.model.waitFor(streamSeq, OFFER_LEVEL_MS);
    } catch {
      return;
    }
    for (const run of this.#deps.model.read((db) => startableRuns(db, 1, threadId))) this.#tryStart(run);
  }

  #tryStart(run: RunRow): void {
    if (
      this.#stopping ||
      applyingError(this.#deps.model) !== null ||
      this.#deps.storage.refusal() !== null ||
      this.#free() <= 0 ||
      this.#tried.has(run.runId) ||
      this.#holders.has(run.runId)
    )
      return;
    this.#tried.add(run.runId);
    this.#attempts += 1;
    const holder = new RunHolder(this.#deps, run, this.#attempts);
    this.#holders.set(run.runId, holder);
    void this.#work(holder).finally(() => {
      this.#holders.delete(run.runId);
      this.#tried.delete(run.runId);
      this.#slotFree();
      if (!this.#stopping) this.#sweepThread(run.threadId);
    });
  }

  async #work(holder: RunHolder): Promise<void> {
    const { run } = holder;
    const log = this.#deps.log.child({ runId: run.runId, turnId: run.turnId });
    try {
      if (!(await holder.claim())) {
        log.debug('claim lost');
        // Until the winner's claim is applied here the run would look free again.
        await this.#deps.model.level().catch(() => undefined);
        return;
      }
      log.info('run claimed');
      await holder.done;
      log.info('run ended');
      if (holder.isBroken) await this.#settleBroken({ ...run, holder: this.#deps.instance }, 'agent_error');
      // The own view must know the end before the next turn of the thread is looked for.
      await this.#deps.model.waitFor(holder.lastSeq, this.#deps.timings.conflictWaitMs).catch(() => undefined);
    } catch (error) {
      const known = toAppError(error);
      logError(log, 'run could not be started', known);
      // What passes, or our own end, leaves the run queued. The pause keeps the next try from following at once.
      if (passes(error) || known.code === 'SHUTTING_DOWN') await pause(RETRY_MS);
      else await this.#settleBroken(run, 'model_input_unavailable');
    }
  }

  /** A run that cannot be started or written must not be offered, or stand as running, for ever. */
  async #settleBroken(run: RunRow, reasonCode: string): Promise<void> {
    const log = this.#deps.log.child({ runId: run.runId });
    try {
      const { settled } = await untilAnswered(
        () => settleForAnother(this.#deps, run, { status: 'failed', reasonCode }),
        { signal: this.#stopped.signal, onWait: (code) => log.warn({ code }, 'broken run waits to be settled') },
      );
      if (settled !== null)
        await this.#deps.model.waitFor(settled, this.#deps.timings.conflictWaitMs).catch(() => undefined);
    } catch (error) {
      logError(log, 'broken run not settled', toAppError(error));
    }
  }

  /** Whoever settles a run starts the next turn of that thread. */
  async afterSettled(threadId: string, streamSeq: number): Promise<void> {
    await this.#deps.model.waitFor(streamSeq, this.#deps.timings.conflictWaitMs).catch(() => undefined);
    this.#sweepThread(threadId);
  }

  #sweepThread(threadId: string): void {
    try {
      const { left, startable } = this.#deps.model.read((db) => ({
        left: leftSteers(db, threadId),
        startable: startableRuns(db, Math.max(1, this.#free())),
      }));
      for (const steer of left) void this.#trySubmit(steer);
      for (const run of startable) this.#tryStart(run);
    } catch (error) {
      // The view is being built anew; the next sweep looks again.
      logError(this.#deps.log, 'next turn not looked for', toAppError(error));
    }
  }

  /** Stops claiming, gives running runs `drainMs`, then settles the rest as interrupted; queued ones stay queued. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#stopped.abort();
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#removeReconnect();
    this.#offers.stop();
    this.#slotFree();
    await this.#pulling;
    await this.#sweeping;
    const ends = () => Promise.all([...this.#holders.values()].map((holder) => holder.done));
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), this.#deps.timings.drainMs);
    });
    if ((await Promise.race([ends(), late])) === 'late') {
      const holders = [...this.#holders.values()];
      const interrupts = Promise.allSettled(holders.map((holder) => holder.interrupt()));
      await Promise.race([interrupts, new Promise((resolve) => setTimeout(resolve, this.#deps.timings.drainMs))]);
    }
    clearTimeout(timer);
  }
}
