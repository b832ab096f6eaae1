import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { type ModelStep, type ModelToolCall, pieces } from './scripted-model-steps.ts';

/** Plays steps into one response, in the wire form of OpenAI Chat Completions. */
export class ScriptedAnswer {
  readonly #response: ServerResponse;
  readonly #gone: AbortSignal;
  readonly #id: string;
  readonly #model: string;
  #calls = 0;
  #finished = false;

  /** `gone` is aborted when the client has left. */
  constructor(response: ServerResponse, gone: AbortSignal, id: string, model: string) {
    this.#response = response;
    this.#gone = gone;
    this.#id = id;
    this.#model = model;
  }

  async play(steps: ModelStep[]): Promise<void> {
    for (const step of steps) {
      if (this.#gone.aborted) return;
      await this.#step(step);
      if (this.#response.writableEnded || this.#response.destroyed) return;
    }
    if (!this.#finished) this.#finish(this.#calls > 0 ? 'tool_calls' : 'stop');
    this.#send('[DONE]');
    this.#response.end();
  }

  async #step(step: ModelStep): Promise<void> {
    if ('text' in step) return this.#stream('content', step.text, step);
    if ('reasoning' in step) return this.#stream('reasoning_content', step.reasoning, step);
    if ('tool' in step) return this.#call(step);
    if ('waitMs' in step) return this.#wait(step.waitMs);
    if ('status' in step) return this.#refuse(step.status, step.body, step.headers);
    if ('hang' in step) return this.#hang(step.hang);
    if ('usage' in step) return this.#usage(step.usage);
    if ('finish' in step) return this.#finish(step.finish);
    this.#open();
    if ('raw' in step) this.#response.write(step.raw);
    // Without the turn of the loop the bytes before would be lost with the connection.
    else setImmediate(() => this.#response.destroy());
    if ('cut' in step) await this.#left();
  }

  async #stream(field: 'content' | 'reasoning_content', text: string, step: Pace): Promise<void> {
    for (const piece of pieces(text, step)) {
      if (step.delayMs) await this.#wait(step.delayMs);
      if (this.#gone.aborted) return;
      this.#delta({ [field]: piece });
    }
  }

  #call(call: ModelToolCall): void {
    const index = this.#calls++;
    const id = call.id ?? `call_${this.#id}_${index}`;
    const text = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments);
    const wire = (fields: Record<string, unknown>): void => this.#delta({ tool_calls: [fields] });
    if (call.form === 'whole') {
      wire({ index: 0, id, type: 'function', function: { name: call.tool, arguments: text } });
      return;
    }
    const place = call.form === 'no-index' ? {} : { index };
    wire({ ...place, id, type: 'function', function: { name: call.tool, arguments: '' } });
    for (const piece of pieces(text, { deltas: call.fragments ?? 2 }))
      wire({ ...place, function: { arguments: piece } });
  }

  #refuse(status: number, body = '{"error":{"code":"scripted"}}', headers: Record<string, string> = {}): void {
    this.#finished = true;
    this.#response.writeHead(status, { 'content-type': 'application/json', ...headers });
    this.#response.end(body);
  }

  async #hang(where: 'headers' | 'stream'): Promise<void> {
    if (where === 'stream') this.#open();
    await this.#left();
  }

  #usage({
    prompt,
    completion,
    cached,
    reasoning,
  }: {
    prompt: number;
    completion: number;
    cached?: number;
    reasoning?: number;
  }): void {
    if (!this.#finished) this.#finish(this.#calls > 0 ? 'tool_calls' : 'stop');
    const usage = {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      ...(cached === undefined ? {} : { prompt_tokens_details: { cached_tokens: cached } }),
      ...(reasoning === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
    };
    this.#send(JSON.stringify({ ...this.#head(), choices: [], usage }));
  }

  #finish(reason: string | null): void {
    this.#finished = true;
    if (reason !== null) this.#delta({}, reason);
  }

  #delta(delta: Record<string, unknown>, finish: string | null = null): void {
    this.#send(JSON.stringify({ ...this.#head(), choices: [{ index: 0, delta, finish_reason: finish }] }));
  }

  #head(): Record<string, unknown> {
    return { id: this.#id, object: 'chat.completion.chunk', created: 0, model: this.#model };
  }

  #send(data: string): void {
    this.#open();
    this.#response.write(`data: ${data}\n\n`);
  }

  #open(): void {
    if (this.#response.headersSent) return;
    this.#response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': this.#id });
    this.#response.flushHeaders();
  }

  async #wait(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.#gone }).catch(() => {});
  }

  #left(): Promise<void> {
    if (this.#gone.aborted) return Promise.resolve();
    return new Promise((resolve) => this.#gone.addEventListener('abort', () => resolve(), { once: true }));
  }
}

interface Pace {
  deltas?: number;
  chunkChars?: number;
  delayMs?: number;
}
