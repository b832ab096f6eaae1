import type { Dispatcher } from 'undici';
import Agent from 'undici/lib/dispatcher/agent.js';
import type { Headers } from './classify.ts';
import { ProviderError } from './error.ts';

/** Bytes that may wait for a slow reader before the socket is paused. */
const highWaterBytes = 1024 * 1024;
/** An unused connection is closed after this; undici closes earlier where the server says so. */
const keepAliveMs = 30_000;

/** One HTTP exchange to be made. */
export interface HttpRequest {
  url: URL;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
  connectMs: number;
  headersMs: number;
  signal?: AbortSignal;
}

// One pool set a connect timeout: production has one, tests a few.
const agents = new Map<number, Dispatcher>();

function agentFor(connectMs: number): Dispatcher {
  let agent = agents.get(connectMs);
  if (!agent) {
    agent = new Agent({ connect: { timeout: connectMs }, keepAliveTimeout: keepAliveMs, bodyTimeout: 0 });
    agents.set(connectMs, agent);
  }
  return agent;
}

/** Closes all kept connections, for the end of a process; the next request opens new ones. */
export async function closeConnections(): Promise<void> {
  const open = [...agents.values()];
  agents.clear();
  await Promise.all(open.map((agent) => agent.destroy()));
}

/** A response whose headers have arrived. Its body is read chunk by chunk, each as soon as the socket has it. */
export class HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly #controller: Dispatcher.DispatchController;
  readonly #chunks: Buffer[] = [];
  #waitingBytes = 0;
  #ended = false;
  #failure: Error | undefined;
  #draining = false;
  #wake: (() => void) | undefined;

  constructor(status: number, headers: Headers, controller: Dispatcher.DispatchController) {
    this.status = status;
    this.headers = headers;
    this.#controller = controller;
  }

  /** The next bytes, null at the end; rejects with what broke the connection, or a timeout after `idleMs` of silence. */
  async read(idleMs: number): Promise<Buffer | null> {
    if (this.#chunks.length === 0 && !this.#ended && !this.#failure) await this.#arrival(idleMs);
    const chunk = this.#chunks.shift();
    if (chunk) {
      this.#waitingBytes -= chunk.length;
      if (this.#controller.paused && this.#waitingBytes < highWaterBytes) this.#controller.resume();
      return chunk;
    }
    if (this.#failure) throw this.#failure;
    return null;
  }

  /** Ends the exchange and its connection; harmless after the end and after drain. */
  cancel(reason: Error): void {
    if (!this.#draining) this.#abort(reason);
  }

  /** Reads the last bytes in the background, so that the connection can be used again. */
  drain(waitMs: number): void {
    this.#draining = true;
    const rest = async (): Promise<void> => {
      let bytes = 0;
      for (let chunk = await this.read(waitMs); chunk; chunk = await this.read(waitMs)) {
        bytes += chunk.length;
        if (bytes > 64 * 1024) throw new Error('more than an end');
      }
    };
    rest().catch((error: unknown) => this.#abort(error instanceof Error ? error : new Error('left unread')));
  }

  #abort(reason: Error): void {
    if (this.#ended || this.#failure) return;
    this.fail(reason);
    this.#controller.abort(reason);
  }

  #arrival(idleMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#abort(new ProviderError({ category: 'timeout', retryable: true, reason: 'stream_idle' }));
      }, idleMs);
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve();
      };
    });
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes > highWaterBytes) this.#controller.pause();
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  fail(error: Error): void {
    this.#failure ??= error;
    this.#wake?.();
  }
}

/**
 * Makes one HTTP request and resolves with its headers. Redirects are not followed. An abort settles at once in every
 * phase, also while connecting. Rejects with what the connection met, or the reason of the signal.
 */
export function openResponse(request: HttpRequest): Promise<HttpResponse> {
  const { url, method, headers, body, signal } = request;
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let response: HttpResponse | undefined;
    const reason = (): Error => new ProviderError({ category: 'cancelled', retryable: false });
    const onAbort = (): void => {
      const error = reason();
      reject(error);
      if (response) response.cancel(error);
      else controller?.abort(error);
    };
    const release = (): void => signal?.removeEventListener('abort', onAbort);
    if (signal?.aborted) {
      reject(reason());
      return;
    }
    signal?.addEventListener('abort', onAbort, { once: true });
    const options: Dispatcher.DispatchOptions & { origin: string } = {
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method,
      headers,
      body: body ?? null,
      headersTimeout: request.headersMs,
      bodyTimeout: 0,
    };
    agentFor(request.connectMs).dispatch(options, {
      onRequestStart(started) {
        controller = started;
        // Aborted while connecting: undici only lets go here, the caller has been told long ago.
        if (signal?.aborted) started.abort(reason());
      },
      onResponseStart(started, status, responseHeaders) {
        if (status < 200) return;
        response = new HttpResponse(status, responseHeaders, started);
        resolve(response);
      },
      onResponseData: (_, chunk) => response?.push(chunk),
      onResponseEnd() {
        release();
        response?.end();
      },
      onResponseError(_, error) {
        release();
        reject(error);
        response?.fail(error);
      },
    });
  });
}
