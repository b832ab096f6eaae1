import { randomUUID } from 'node:crypto';
import { readBounded } from './body.ts';
import { failureOfStatus, failureOfTransport, header, requestIdOf } from './classify.ts';
import { StreamDecoder } from './decoder.ts';
import { ProviderError } from './error.ts';
import type { ProviderTimeouts } from './policy.ts';
import { endpointSecrets, endpointUrl, requestBody, requestHeaders } from './request.ts';
import { type HttpResponse, openResponse } from './transport.ts';
import type { ProviderEvent, ProviderRequest } from './types.ts';

const errorBodyBytes = 64 * 1024;
/** A whole answer of a server that does not stream. */
const wholeBodyBytes = 8 * 1024 * 1024;

/** What the retry loop has to know of a failed attempt beside its error. */
export interface AttemptState {
  /** The provider had accepted the request. */
  streaming: boolean;
  /** The refusal names stream_options, which some servers do not know. */
  usageRefused: boolean;
}

/** One upstream request; ends after response.completed or throws ProviderError. */
export async function* attempt(
  request: ProviderRequest,
  includeUsage: boolean,
  timeouts: ProviderTimeouts,
  state: AttemptState,
): AsyncGenerator<ProviderEvent, void, void> {
  const { signal } = request;
  let response: HttpResponse | undefined;
  try {
    response = await openResponse({
      url: endpointUrl(request.baseUrl, '/chat/completions'),
      method: 'POST',
      headers: { ...requestHeaders(request, 'text/event-stream'), 'content-type': 'application/json' },
      body: requestBody(request, includeUsage),
      connectMs: timeouts.connectMs,
      headersMs: timeouts.headersMs,
      ...(signal ? { signal } : {}),
    });
    if (response.status > 299) throw await refusal(request, response, includeUsage, timeouts, state);
    state.streaming = true;
    yield* answer(response, timeouts);
  } catch (error) {
    throw failureOfTransport(error);
  } finally {
    // The consumer may have left in the middle; harmless where the body has been read.
    response?.cancel(new ProviderError({ category: 'cancelled', retryable: false }));
  }
}

async function refusal(
  request: ProviderRequest,
  response: HttpResponse,
  includeUsage: boolean,
  timeouts: ProviderTimeouts,
  state: AttemptState,
): Promise<ProviderError> {
  const { text } = await readBounded(response, errorBodyBytes, timeouts.headersMs);
  const { status, headers } = response;
  state.usageRefused = includeUsage && (status === 400 || status === 422) && /stream_options|include_usage/.test(text);
  return failureOfStatus(status, headers, text, endpointSecrets(request), Date.now());
}

async function* answer(response: HttpResponse, timeouts: ProviderTimeouts): AsyncGenerator<ProviderEvent, void, void> {
  const decoder = new StreamDecoder(requestIdOf(response.headers), () => `call_${randomUUID().replaceAll('-', '')}`);
  const whole = /^application\/json\b/i.test(header(response.headers, 'content-type') ?? '');
  while (!decoder.done) {
    const events: ProviderEvent[] = [];
    let failure: unknown;
    try {
      if (whole) await takeWhole(response, decoder, timeouts, events);
      else await takeChunk(response, decoder, timeouts, events);
    } catch (error) {
      failure = error;
    }
    // What came before a failure counts: it is content that must not be asked for again.
    if (decoder.done) response.drain(timeouts.trailerMs);
    for (const event of events) yield event;
    if (failure !== undefined) throw withContent(failureOfTransport(failure), decoder.contentSeen);
  }
}

async function takeChunk(
  response: HttpResponse,
  decoder: StreamDecoder,
  timeouts: ProviderTimeouts,
  events: ProviderEvent[],
): Promise<void> {
  const finished = decoder.finishReason !== undefined;
  let bytes: Buffer | null;
  try {
    bytes = await response.read(finished ? timeouts.trailerMs : timeouts.idleMs);
  } catch (error) {
    // The model had finished; a missing end mark or a reset after it loses nothing.
    if (!finished || isCancelled(error)) throw error;
    decoder.finish(events);
    return;
  }
  if (bytes) decoder.push(bytes, events);
  else decoder.end(events);
}

async function takeWhole(
  response: HttpResponse,
  decoder: StreamDecoder,
  timeouts: ProviderTimeouts,
  events: ProviderEvent[],
): Promise<void> {
  const { text, complete } = await readBounded(response, wholeBodyBytes, timeouts.idleMs);
  let json: unknown;
  try {
    json = complete ? JSON.parse(text) : undefined;
  } catch {
    // Reported as not a completion.
  }
  decoder.whole(json, events);
}

function isCancelled(error: unknown): boolean {
  return error instanceof ProviderError && error.category === 'cancelled';
}

function withContent(error: ProviderError, contentSeen: boolean): ProviderError {
  error.contentSeen = contentSeen;
  return error;
}
