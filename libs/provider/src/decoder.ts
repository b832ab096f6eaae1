import { limits } from '@rookery/protocol';
import { readChunk } from './chunk.ts';
import { failureInStream } from './classify.ts';
import { ProviderError } from './error.ts';
import { SseParser, SseTooLarge } from './sse.ts';
import { ToolCalls } from './tool-calls.ts';
import type { ProviderEvent, Usage } from './types.ts';

/** Turns the bytes of one streamed answer into events: no I/O, no clock, nothing held back. */
export class StreamDecoder {
  /** The answer is complete and its last event was handed over. */
  done = false;
  /** Text, reasoning or a part of a tool call has been seen. */
  contentSeen = false;
  /** The model has finished; only usage and the end mark may follow. */
  finishReason: string | undefined;
  readonly #requestId: string | undefined;
  readonly #sse = new SseParser(limits.sseEventChars);
  readonly #tools: ToolCalls;
  #responseModelId: string | undefined;
  #started = false;
  #reasoningChars = 0;
  #usage: Usage | undefined;

  constructor(requestId: string | undefined, newCallId: () => string) {
    this.#requestId = requestId;
    this.#tools = new ToolCalls(limits.toolArgumentsChars, newCallId);
  }

  /** Appends to `out` what these bytes say; throws ProviderError, after appending what came before the failure. */
  push(bytes: Uint8Array, out: ProviderEvent[]): void {
    try {
      this.#sse.push(bytes, (data) => this.#data(data, out));
    } catch (error) {
      if (error instanceof SseTooLarge) {
        throw new ProviderError({ category: 'protocol', retryable: false, reason: 'event_too_large' });
      }
      throw error;
    }
  }

  /** Takes the end of the body: the answer is complete where its finish reason is known, else it was cut. */
  end(out: ProviderEvent[]): void {
    if (this.done) return;
    this.#sse.end((data) => {
      try {
        this.#data(data, out);
      } catch (error) {
        // Half an event is what a cut looks like; after the finish reason it loses at most the usage.
        if (!(error instanceof ProviderError) || error.reason !== 'malformed_event') throw error;
      }
    });
    if (this.done) return;
    if (this.finishReason !== undefined) {
      this.#complete(out);
      return;
    }
    if (!this.#started) throw new ProviderError({ category: 'protocol', retryable: true, reason: 'no_event' });
    throw new ProviderError({ category: 'network', retryable: true, reason: 'stream_cut' });
  }

  /** Takes a whole answer of a server that does not stream. */
  whole(json: unknown, out: ProviderEvent[]): void {
    this.#json(json, out);
    this.#complete(out);
  }

  /** Ends an answer whose finish reason is known although its connection did not end well. */
  finish(out: ProviderEvent[]): void {
    if (!this.done) this.#complete(out);
  }

  #data(data: string, out: ProviderEvent[]): void {
    if (this.done || data.trim() === '') return;
    if (data.trim() === '[DONE]') {
      if (!this.#started) throw new ProviderError({ category: 'protocol', retryable: true, reason: 'no_event' });
      this.#complete(out);
      return;
    }
    let json: unknown;
    try {
      json = JSON.parse(data);
    } catch {
      throw new ProviderError({ category: 'protocol', retryable: true, reason: 'malformed_event' });
    }
    this.#json(json, out);
  }

  #json(json: unknown, out: ProviderEvent[]): void {
    const chunk = readChunk(json);
    if (!chunk) throw new ProviderError({ category: 'protocol', retryable: true, reason: 'malformed_event' });
    if (chunk.error !== undefined) throw failureInStream(chunk.error, this.#requestId);
    this.#responseModelId ??= chunk.responseModelId;
    if (!this.#started) {
      this.#started = true;
      out.push({
        type: 'response.started',
        ...(this.#requestId ? { requestId: this.#requestId } : {}),
        ...(this.#responseModelId ? { responseModelId: this.#responseModelId } : {}),
      });
    }
    if (chunk.reasoning !== '') this.#reasoning(chunk.reasoning, out);
    if (chunk.text !== '') {
      this.contentSeen = true;
      out.push({ type: 'text.delta', text: chunk.text });
    }
    for (const fragment of chunk.tools) {
      this.contentSeen = true;
      out.push(this.#tools.push(fragment));
    }
    if (chunk.usage) this.#updateUsage(chunk.usage, out);
    if (chunk.finishReason) this.finishReason = chunk.finishReason;
  }

  #reasoning(text: string, out: ProviderEvent[]): void {
    this.contentSeen = true;
    this.#reasoningChars += text.length;
    if (this.#reasoningChars > limits.reasoningChars) {
      throw new ProviderError({ category: 'protocol', retryable: false, reason: 'reasoning_too_large' });
    }
    out.push({ type: 'reasoning.delta', text });
  }

  /** Some providers repeat the usage so far with every chunk. */
  #updateUsage(usage: Usage, out: ProviderEvent[]): void {
    if (JSON.stringify(usage) === JSON.stringify(this.#usage)) return;
    this.#usage = usage;
    out.push({ type: 'usage.updated', usage });
  }

  #complete(out: ProviderEvent[]): void {
    out.push(...this.#tools.complete());
    this.done = true;
    out.push({
      type: 'response.completed',
      finishReason: this.finishReason ?? (this.#tools.size > 0 ? 'tool_calls' : 'stop'),
      responseModelId: this.#responseModelId ?? null,
      requestId: this.#requestId ?? null,
    });
  }
}
