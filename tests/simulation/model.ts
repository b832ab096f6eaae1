import type { Models } from '@rookery/agent/testing';
import { ProviderError, type ProviderEvent, type ProviderRequest } from '@rookery/provider';
import { Redactor } from '@rookery/secrets';
import type { Engine, Owner } from '@rookery/testkit/simulation';

/** One request that reached the model, and what it said. */
export interface ModelCallRecord {
  call: number;
  modelId: string;
  owner: Owner;
  startedAt: number;
  /** Contents of the user messages that it was shown. */
  shown: string[];
  /** Text as far as it was handed over. */
  said: string;
  /** True once the answer was handed over whole. */
  finished: boolean;
  tools: string[];
}

const MOST_STEPS = 4;
const HANG_MS = 30_000;

/** A model whose answers are drawn from the seed: text in pieces, tools, failures, silence. */
export class SimulatedModel {
  readonly calls: ModelCallRecord[] = [];
  readonly #engine: Engine;
  /** Called when a request begins, before anything is said. */
  onCall: (record: ModelCallRecord) => void = () => undefined;
  #toolCalls = 0;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** The models as one instance of the agent has them. */
  forInstance(owner: Owner): Models {
    const chosen = { contextWindow: 32_768, supportsTools: true, fingerprint: '0'.repeat(64) };
    return {
      redactor: new Redactor(),
      choose: () => Promise.resolve(chosen),
      endpoint: () => Promise.resolve({ endpoint: { baseUrl: 'http://model.simulated/v1' } }),
      stream: (request) => this.#answer(request, owner),
      stop: () => undefined,
    };
  }

  async #pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    // A provider may go on talking for a moment after it was told to stop.
    if (signal?.aborted && this.#engine.random.next() < 0.5) throw cancelled();
    await new Promise<void>((resolve, reject) => {
      const abort = () => {
        clearTimeout(timer);
        reject(cancelled());
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', abort);
        resolve();
      }, ms);
      if (this.#engine.random.next() < 0.7) signal?.addEventListener('abort', abort, { once: true });
    });
  }

  async *#answer(request: ProviderRequest, owner: Owner): AsyncGenerator<ProviderEvent> {
    const { random } = this.#engine;
    const { signal } = request;
    const record: ModelCallRecord = {
      call: this.calls.length + 1,
      modelId: request.model,
      owner,
      startedAt: this.#engine.now,
      shown: request.messages.filter(({ role }) => role === 'user').map(({ content }) => String(content)),
      said: '',
      finished: false,
      tools: [],
    };
    this.calls.push(record);
    this.onCall(record);
    this.#engine.note(owner, `model call ${record.call} ${record.modelId} ${record.shown.join(' ')}`);
    const pace = random.pick([1, 20, 200, 1500]);
    const steps = this.calls.filter(({ modelId }) => modelId === request.model).length;
    yield { type: 'response.started', requestId: `request-${record.call}` };
    for (let piece = random.integer(0, 5); piece > 0; piece -= 1) {
      await this.#pause(random.next() * pace, signal);
      const text = `c${record.call}.${piece} ${random.next() < 0.1 ? 'x'.repeat(300) : ''}`;
      record.said += text;
      yield { type: 'text.delta', text };
      if (random.next() < 0.1) yield { type: 'reasoning.delta', text: `thought ${record.call}` };
    }
    const fate = random.next();
    if (fate < 0.04) {
      await this.#pause(HANG_MS, signal);
      throw new ProviderError({ category: 'timeout', retryable: false });
    }
    if (fate < 0.08) throw new ProviderError({ category: 'server', status: 500, retryable: false });
    const tools = steps < MOST_STEPS && random.next() < 0.5 ? random.integer(1, 3) : 0;
    for (let index = 0; index < tools; index += 1) {
      await this.#pause(random.next() * pace, signal);
      this.#toolCalls += 1;
      const id = `call_${this.#toolCalls}`;
      record.tools.push(id);
      const odd = random.next();
      const name = odd < 0.05 ? 'nothing' : random.next() < 0.6 ? 'write' : 'read';
      const text = odd > 0.95 ? '{broken' : JSON.stringify({ path: `file-${this.#toolCalls}` });
      yield { type: 'tool_call.completed', index, id, name, arguments: text };
    }
    await this.#pause(random.next() * pace, signal);
    const usage = {
      inputTokens: 10,
      cachedInputTokens: null,
      outputTokens: 5,
      reasoningOutputTokens: null,
      totalTokens: 15,
    };
    if (random.next() < 0.8) yield { type: 'usage.updated', usage };
    record.finished = true;
    yield { type: 'response.completed', finishReason: 'stop', responseModelId: null, requestId: null };
  }
}

const cancelled = () => new ProviderError({ category: 'cancelled', retryable: false });
