import { inlineBlobs } from '@rookery/journal';
import {
  type ContextChoice,
  chooseContext,
  type HistoryTurn,
  type LoopContext,
  type LoopEffect,
  type LoopInput,
  type LoopState,
  newLoop,
  step,
  toMessages,
} from '@rookery/kernel';
import { AppError, canonicalSha256, type Item, limits, type RunConfig, toAppError } from '@rookery/protocol';
import { faultPoint, logError } from '@rookery/service';
import type { AgentDeps } from '../deps.ts';
import { systemPrompt } from '../identity.ts';
import { earlierTurns, itemsOfTurn, type RunRow, runConfigOf } from '../queries.ts';
import { callModel } from './model-call.ts';
import { RunWriter } from './writer.ts';

/** Turns of history that are read at once, and at most. */
const HISTORY_PAGE = 32;
const HISTORY_BYTES_PER_TOKEN = 1;

interface Prepared {
  config: RunConfig;
  userItem: Item;
  context: ContextChoice;
  system: string;
  readers: ReadonlySet<string>;
}

/** One claimed run: it owns the loop's state, performs its effects and writes its events. */
export class RunHolder {
  readonly run: RunRow;
  readonly #deps: AgentDeps;
  readonly #writer: RunWriter;
  readonly #abort = new AbortController();
  readonly #toolAborts = new Map<string, AbortController>();
  /** Steers that were taken, by the client's id: a repeated one waits for the same commit. */
  readonly #steers = new Map<string, Promise<number>>();
  #state: LoopState = newLoop;
  #context: LoopContext | null = null;
  #prepared: Prepared | null = null;
  #settled: () => void = () => undefined;
  #broken = false;
  /** Resolves once the run is settled by us or taken from us. */
  readonly done: Promise<void>;

  /** `attempt` is another number for each holder that this instance makes. */
  constructor(deps: AgentDeps, run: RunRow, attempt: number) {
    this.#deps = deps;
    this.run = run;
    this.done = new Promise((resolve) => {
      this.#settled = resolve;
    });
    this.#writer = new RunWriter(
      deps,
      run,
      attempt,
      (effect) => this.#perform(effect),
      (error) => this.#ended(error),
    );
  }

  /** Claims the run; false where another was first. Throws where the run cannot be read. */
  async claim(): Promise<boolean> {
    const prepared = await this.#prepare();
    this.#prepared = prepared;
    const { homeId } = this.#deps;
    const { threadId, turnId, runId, providerId, modelId } = this.run;
    const knownTools = new Set(prepared.config.tools.map((tool) => tool.name));
    this.#context = { homeId, threadId, turnId, runId, providerId, modelId, readers: prepared.readers, knownTools };
    const { revision, turns } = prepared.context;
    const historyMessages = toMessages(turns.flatMap((turn) => turn.items)).length + 2;
    try {
      await this.#input({
        type: 'start',
        holder: this.#deps.instance,
        epoch: this.run.epoch + 1,
        contextRevision: revision,
        historyMessages,
        throughItemId: prepared.userItem.id,
      });
      return true;
    } catch (error) {
      if (error instanceof AppError && error.code === 'RUN_SETTLED') return false;
      throw error;
    }
  }

  /** Asks the run to end as cancelled. Resolves once that is stored; harmless on a settled run. */
  cancel(commandId: string): Promise<unknown> {
    return this.#input({ type: 'cancel' }, commandId);
  }

  /** Settles the run as interrupted, for a process that stops. */
  interrupt(): Promise<unknown> {
    return this.#input({ type: 'interrupt' });
  }

  /**
   * Adds a person's words to the run; the next model call sees them. Resolves with the stream sequence once they are
   * stored, also where the same was asked before. RATE_LIMITED where too many wait.
   */
  steer(clientRequestId: string, content: string, commandId: string): Promise<number> {
    const taken = this.#steers.get(clientRequestId);
    if (taken !== undefined) return taken;
    const waiting = this.#state.run.steers.filter((steer) => !steer.seen).length;
    if (waiting >= limits.pendingSteers) {
      return Promise.reject(new AppError('RATE_LIMITED', { details: { pendingSteers: limits.pendingSteers } }));
    }
    const stored = this.#input({ type: 'steer', clientRequestId, content }, commandId);
    this.#steers.set(clientRequestId, stored);
    return stored;
  }

  /** What is known of a steer with that id: its content's hash, or null. */
  knownSteer(clientRequestId: string): string | null {
    const steer = this.#state.run.steers.find(({ item }) => item.data.clientRequestId === clientRequestId);
    return steer === undefined ? null : canonicalSha256(steer.item.content);
  }

  /** Stream sequence of the last commit that was stored for this run. */
  get lastSeq(): number {
    return this.#writer.lastSeq;
  }

  /** True where a defect kept us from writing: the run still stands as ours in the journal. */
  get isBroken(): boolean {
    return this.#broken;
  }

  get isSettled(): boolean {
    const { status } = this.#state.run;
    return status !== 'running' && status !== 'unclaimed';
  }

  #input(input: LoopInput, commandId: string | null = null): Promise<number> {
    if (this.#context === null) return Promise.reject(new AppError('INTERNAL'));
    if (this.isSettled) return Promise.reject(new AppError('RUN_SETTLED'));
    const { state, events, effects } = step(this.#state, input, this.#context, this.#writer.now());
    this.#state = state;
    if (events.length === 0) {
      for (const effect of effects) this.#perform(effect);
      return Promise.resolve(this.#writer.lastSeq);
    }
    return this.#writer.write(events, effects, commandId);
  }

  /** An input that nobody waits for: a fence is the only way in which it can fail, and that is handled there. */
  #feed(input: LoopInput): void {
    this.#input(input).catch((error: unknown) => {
      const known = toAppError(error);
      if (known.code !== 'RUN_SETTLED') this.#defect(known);
    });
  }

  #defect(error: AppError): void {
    logError(this.#deps.log.child({ runId: this.run.runId }), 'run failed', error);
    if (!this.isSettled) this.#feed({ type: 'model_failed', reasonCode: 'agent_error', requestId: null });
  }

  #perform(effect: LoopEffect): void {
    switch (effect.type) {
      case 'call_model':
        void this.#callModel(effect.transcript);
        break;
      case 'invoke_tool':
        void this.#invoke(effect);
        break;
      case 'schedule_flush':
        setTimeout(() => this.#feed({ type: 'flush' }), limits.deltaMs);
        break;
      case 'stop_work':
        this.#stopWork();
        break;
      case 'settled':
        this.#settled();
        break;
    }
  }

  #stopWork(): void {
    this.#abort.abort();
    for (const abort of this.#toolAborts.values()) abort.abort();
  }

  #ended(error: AppError): void {
    const log = this.#deps.log.child({ runId: this.run.runId });
    if (error.code === 'RUN_SETTLED') log.info('run was taken by another');
    else {
      this.#broken = true;
      logError(log, 'run cannot be written', error);
    }
    this.#stopWork();
    this.#settled();
  }

  async #callModel(transcript: Item[]): Promise<void> {
    const prepared = this.#prepared;
    if (prepared === null || this.#abort.signal.aborted) return;
    const items = [...prepared.context.turns.flatMap((turn) => turn.items), prepared.userItem, ...transcript];
    try {
      await callModel({
        config: prepared.config,
        messages: [{ role: 'system', content: prepared.system }, ...toMessages(items)],
        models: this.#deps.models,
        timings: this.#deps.timings,
        signal: this.#abort.signal,
        input: (input) => this.#feed(input),
        onRetry: (attempt, category, delayMs) =>
          this.#deps.log.info({ runId: this.run.runId, attempt, category, delayMs }, 'provider is asked again'),
        onWait: (code) => this.#deps.log.warn({ code, runId: this.run.runId }, 'NATS is away, the model call waits'),
      });
    } catch (error) {
      this.#defect(toAppError(error));
    }
  }

  async #invoke(effect: Extract<LoopEffect, { type: 'invoke_tool' }>): Promise<void> {
    const { call, item } = effect;
    const { run } = this;
    const abort = new AbortController();
    this.#toolAborts.set(item.id, abort);
    faultPoint('agent:after-intent');
    try {
      const result = await this.#deps.tools.invoke(
        {
          itemId: item.id,
          callId: call.callId,
          toolName: call.name,
          arguments: call.arguments,
          argsSha256: canonicalSha256(call.arguments),
          threadId: run.threadId,
          turnId: run.turnId,
          runId: run.runId,
          branchId: run.branchId,
          stepOrdinal: effect.stepOrdinal,
          intentSeq: this.#writer.lastSeq,
          holder: this.#deps.instance,
          workspaceRoot: this.#prepared?.config.workspace?.rootUri ?? null,
          clientRequestId: run.clientRequestId ?? run.runId,
        },
        { agentId: run.agentId, world: run.world, ...(run.authorization ? { authorization: run.authorization } : {}) },
        abort.signal,
      );
      this.#feed({ type: 'tool_finished', itemId: item.id, result });
    } catch (error) {
      this.#defect(toAppError(error));
    } finally {
      this.#toolAborts.delete(item.id);
    }
  }

  async #prepare(): Promise<Prepared> {
    const { model, blobs, tools } = this.#deps;
    const { runId, turnId, threadId } = this.run;
    const found = model.read((db) => ({ config: runConfigOf(db, runId), items: itemsOfTurn(db, turnId) }));
    const userItem = found.items[0];
    if (found.config === null || userItem === undefined) throw new AppError('RUN_NOT_FOUND');
    const config = await inlineBlobs(found.config, blobs, threadId);
    const system = systemPrompt(String(config.instructions.identityCore), config.workspace?.rootUri ?? null);
    const history = await this.#history(config.contextWindow * HISTORY_BYTES_PER_TOKEN);
    const ownItem = await inlineBlobs(userItem, blobs, threadId);
    const context = chooseContext({
      history,
      userItem: ownItem,
      instructions: [system],
      tools: config.tools,
      contextWindow: config.contextWindow,
    });
    const readers = config.tools.length === 0 ? new Set<string>() : (await tools.catalog()).readers;
    return { config, userItem: ownItem, context, system, readers };
  }

  /** Settled turns before this one, oldest first, no more bytes than the window has tokens. */
  async #history(maxBytes: number): Promise<HistoryTurn[]> {
    const turns: HistoryTurn[] = [];
    let bytes = 0;
    let before: number | undefined;
    for (;;) {
      const page = this.#deps.model.read((db) =>
        earlierTurns(db, this.run.turnId, HISTORY_PAGE, before).map((turn) => ({
          ...turn,
          items: itemsOfTurn(db, turn.id),
        })),
      );
      for (const { id, items } of page) {
        const whole = await inlineBlobs(items, this.#deps.blobs, this.run.threadId);
        turns.unshift({ turnId: id, items: whole });
        bytes += whole.reduce(
          (sum, item) => sum + (typeof item.content === 'string' ? item.content.length : 0) + 64,
          0,
        );
        if (bytes > maxBytes) return turns;
      }
      if (page.length < HISTORY_PAGE) return turns;
      before = page.at(-1)?.ordinal;
    }
  }
}
