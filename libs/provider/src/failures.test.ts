import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { ask, collect, delta, plain, sse, startUpstream, stream, textOf, type Upstream } from '../test/upstream.ts';
import { closeConnections, ProviderError, type ProviderOptions, streamChat } from './index.ts';

const open: Upstream[] = [];
const upstream: typeof startUpstream = async (answer) => {
  const server = await startUpstream(answer);
  open.push(server);
  return server;
};
const fast: ProviderOptions = { retry: { baseMs: 1, capMs: 5 } };

afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.stop()));
});
afterAll(closeConnections);

function failure(error: unknown): ProviderError {
  if (!(error instanceof ProviderError)) throw new Error('not a ProviderError', { cause: error });
  expect(error.code).toBe('PROVIDER_FAILED');
  return error;
}

const tooLong = { error: { message: "This model's maximum context length is 65536 tokens.", code: 'invalid_request' } };
const statuses: [number, unknown, string, number][] = [
  [401, { error: { code: 'invalid_api_key' } }, 'authentication', 1],
  [403, 'forbidden', 'authentication', 1],
  [429, { error: { type: 'rate_limited' } }, 'rate_limit', 5],
  [429, { error: { code: 'insufficient_quota' } }, 'rate_limit', 1],
  [400, tooLong, 'context_overflow', 1],
  [413, { error: { message: 'the request exceeds the available context size' } }, 'context_overflow', 1],
  [400, { error: { code: 'context_length_exceeded' } }, 'context_overflow', 1],
  [400, { error: { message: 'messages must not be empty' } }, 'invalid_request', 1],
  [404, { error: { code: 'model_not_found' } }, 'invalid_request', 1],
  [307, '', 'invalid_request', 1],
  [408, '', 'timeout', 5],
  [504, '', 'timeout', 5],
  [500, '<html>oops</html>', 'server', 5],
  [503, '', 'server', 5],
];

describe('failures before any content', () => {
  it.each(statuses)('HTTP %i %j is %s after %i requests', async (status, body, category, requests) => {
    const server = await upstream((response) => {
      response.writeHead(status, { 'x-request-id': 'req-9', location: 'http://127.0.0.1:1/elsewhere' });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
    const { error, events } = await collect(streamChat(ask(server.baseUrl), fast));
    expect(failure(error)).toMatchObject({ category, status, requestId: 'req-9', contentSeen: false });
    expect(server.asked).toHaveLength(requests);
    expect(events.filter((event) => event.type === 'retry')).toHaveLength(requests - 1);
  });

  it('says which short code the provider gave, and nothing else of its body', async () => {
    const secret = 'sk-canary-0123456789';
    const bodies = [
      { error: { code: 'model_not_found', message: `no model for ${secret}` } },
      { error: { code: 'key-canary-0123456', type: 'not a slug, private text' } },
    ];
    const server = await upstream((response, n) => {
      response.writeHead(404, { 'x-request-id': 'r\u00e9q' });
      response.end(JSON.stringify(bodies[n - 1]));
    });
    const first = failure((await collect(streamChat(ask(server.baseUrl)))).error);
    expect(first.message).toBe('The provider refused the request. (HTTP 404, model_not_found)');
    const second = failure((await collect(streamChat(ask(server.baseUrl)))).error);
    expect(second.message).toBe('The provider refused the request. (HTTP 404)');
    expect(second.requestId).toBeUndefined();
    expect(JSON.stringify([first.toBody(), second.toBody()])).not.toMatch(/canary|private/);
  });

  it('reads no more than 64 KiB of an error body', async () => {
    const server = await upstream((response) => {
      response.writeHead(500);
      const pour = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536))) {}
      };
      response.on('drain', pour);
      pour();
    });
    const { error } = await collect(streamChat(ask(server.baseUrl), { retry: { requestRetries: 0 } }));
    expect(failure(error)).toMatchObject({ category: 'server', status: 500 });
    await server.asked[0]?.closed;
  });

  /** Refuses with each of the waits in turn, and answers then. */
  const limiting = (waits: string[]) =>
    upstream((response, n) => {
      const wait = waits[n - 1];
      if (wait === undefined) stream(response, plain('ok'));
      else response.writeHead(429, { 'retry-after': wait });
      response.end();
    });

  it('waits out a Retry-After, also one over the cap', async () => {
    const server = await limiting(['0.05', '0.15']);
    const retry = { baseMs: 1, capMs: 70, retryAfterBudgetMs: 200 };
    const started = performance.now();
    const { events } = await collect(streamChat(ask(server.baseUrl), { retry }));
    expect(events.slice(0, 2)).toEqual([
      { type: 'retry', attempt: 1, category: 'rate_limit', delayMs: 50 },
      { type: 'retry', attempt: 2, category: 'rate_limit', delayMs: 150 },
    ]);
    expect(textOf(events)).toBe('ok');
    // Nothing was asked before its time; timers may be a millisecond early.
    expect(performance.now() - started).toBeGreaterThan(195);
  });

  it.each([
    ['one that is longer than all patience', ['3600'], 1],
    ['several that are together', ['0.1', '0.15'], 2],
  ])('fails at once at %s, and says why', async (_, waits, requests) => {
    const server = await limiting(waits);
    const retry = { baseMs: 1, capMs: 70, retryAfterBudgetMs: 200 };
    const { error } = await collect(streamChat(ask(server.baseUrl), { retry }));
    expect(failure(error)).toMatchObject({ category: 'rate_limit', status: 429, reason: 'retry_after_too_long' });
    expect(server.asked).toHaveLength(requests);
  });

  it.each<[string, string, string, number]>([
    ['a cut stream', sse(delta({ role: 'assistant' })), 'network', 6],
    ['an empty stream', '', 'protocol', 6],
    ['a page', '<html>\n\n</html>', 'protocol', 6],
    ['only an end mark', sse('[DONE]'), 'protocol', 6],
    ['a server error in the stream', sse({ error: { code: 502, message: 'x' } }), 'server', 6],
    ['a rate limit in the stream', sse({ error: { type: 'rate_limit_error' } }), 'rate_limit', 6],
    ['an error text in the stream', sse({ error: 'something' }), 'server', 6],
    ['an overflow in the stream', sse({ error: { message: 'prompt is too long' } }), 'context_overflow', 1],
    ['an invalid request in the stream', sse({ error: { type: 'invalid_request_error' } }), 'invalid_request', 1],
    ['an oversized event', `data: ${'x'.repeat(1_000_001)}`, 'protocol', 1],
  ])('%s is tried again as a stream failure', async (_, body, category, requests) => {
    const server = await upstream((response) => {
      stream(response, body);
      response.end();
    });
    const { error } = await collect(streamChat(ask(server.baseUrl), fast));
    expect(failure(error)).toMatchObject({ category, contentSeen: false });
    expect(server.asked).toHaveLength(requests);
  });

  it('malformed JSON is a protocol failure', async () => {
    const server = await upstream((response) => {
      stream(response, sse('{"choices": [', '[DONE]'));
      response.end();
    });
    const { error } = await collect(streamChat(ask(server.baseUrl), { retry: { streamRetries: 0 } }));
    expect(failure(error)).toMatchObject({ category: 'protocol', reason: 'malformed_event' });
  });

  it('makes at most six requests, however failures and fallbacks mix', async () => {
    const server = await upstream((response, n) => {
      if (n === 1) {
        response.statusCode = 400;
        response.end('{"error":{"message":"unknown field include_usage"}}');
      } else if (n % 2 === 0) {
        response.statusCode = 503;
        response.end();
      } else {
        stream(response, sse(delta({ role: 'assistant' })));
        response.end();
      }
    });
    const { error, events } = await collect(streamChat(ask(server.baseUrl), fast));
    expect(failure(error).category).toBe('server');
    expect(server.asked).toHaveLength(6);
    expect(events.filter((event) => event.type === 'response.started')).toHaveLength(2);
    expect(events.filter((event) => event.type === 'retry').map((event) => event.attempt)).toEqual([1, 2, 3, 4]);
  });

  it('succeeds when a retry does', async () => {
    const server = await upstream((response, n) => {
      if (n < 3) response.destroy();
      else stream(response, plain('at last'));
      response.end();
    });
    const { events, error } = await collect(streamChat(ask(server.baseUrl), fast));
    expect(error).toBeUndefined();
    expect(textOf(events)).toBe('at last');
    expect(events.slice(0, 2).map((event) => (event.type === 'retry' ? event.category : event.type))).toEqual([
      'network',
      'network',
    ]);
  });

  it('a port where nobody listens is a network failure', async () => {
    const server = await upstream(() => {});
    await server.stop();
    const { error } = await collect(streamChat(ask(server.baseUrl), { retry: { requestRetries: 1, baseMs: 1 } }));
    expect(failure(error)).toMatchObject({ category: 'network', reason: 'ECONNREFUSED', retryable: true });
  });

  it.each(['ftp://127.0.0.1/v1', 'http://user:pass@127.0.0.1/v1', 'nonsense'])(
    'refuses the base URL %s',
    async (url) => {
      const { error } = await collect(streamChat(ask(url)));
      expect(failure(error)).toMatchObject({ category: 'invalid_request', reason: 'base_url' });
    },
  );

  it('headers that never come are a timeout', async () => {
    const server = await upstream(() => {});
    const options = { timeouts: { headersMs: 40 }, retry: { requestRetries: 1, baseMs: 1 } };
    const { error } = await collect(streamChat(ask(server.baseUrl), options));
    expect(failure(error)).toMatchObject({ category: 'timeout', retryable: true });
    expect(server.asked).toHaveLength(2);
  });

  it('a connection that never opens is a timeout', async () => {
    // A TLS handshake that nobody answers counts as connecting.
    const silent = createTcpServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const options = { timeouts: { connectMs: 40 }, retry: { requestRetries: 0 } };
    const { error } = await collect(streamChat(ask(`https://127.0.0.1:${port}/v1`), options));
    expect(failure(error)).toMatchObject({ category: 'timeout', reason: 'UND_ERR_CONNECT_TIMEOUT' });
    silent.close();
  });

  it('a half-open stream is a timeout', async () => {
    const server = await upstream((response) => stream(response, sse(delta({ role: 'assistant' })), ': ping\n\n'));
    const options = { timeouts: { idleMs: 40 }, retry: { streamRetries: 1, baseMs: 1 } };
    const { error } = await collect(streamChat(ask(server.baseUrl), options));
    expect(failure(error)).toMatchObject({ category: 'timeout', reason: 'stream_idle', contentSeen: false });
    expect(server.asked).toHaveLength(2);
    await server.asked[1]?.closed;
  });
});

describe('failures after content', () => {
  const call = { index: 0, id: 'a', function: { name: 'list', arguments: '{' } };
  it.each<[string, unknown]>([
    ['text', delta({ content: 'partial' })],
    ['reasoning', delta({ reasoning_content: 'partial' })],
    ['a tool call', delta({ tool_calls: [call] })],
  ])('nothing is asked again once %s was seen', async (_, chunk) => {
    const server = await upstream((response) => {
      stream(response, sse(chunk));
      setImmediate(() => response.destroy());
    });
    const { error, events } = await collect(streamChat(ask(server.baseUrl), fast));
    expect(failure(error)).toMatchObject({ category: 'network', contentSeen: true, retryable: true });
    expect(events).toHaveLength(2);
    expect(server.asked).toHaveLength(1);
  });

  it('content in the same bytes as the failure counts', async () => {
    const server = await upstream((response) => {
      stream(response, sse(delta({ content: 'partial' }), { error: { code: 500 } }));
      response.end();
    });
    const { error, events } = await collect(streamChat(ask(server.baseUrl), fast));
    expect(textOf(events)).toBe('partial');
    expect(failure(error)).toMatchObject({ category: 'server', contentSeen: true });
    expect(server.asked).toHaveLength(1);
  });

  it.each<[string, () => unknown]>([
    ['reasoning', () => delta({ reasoning_content: 'x'.repeat(500_001) })],
    [
      'tool arguments',
      () => delta({ tool_calls: [{ ...call, function: { name: 't', arguments: 'x'.repeat(500_001) } }] }),
    ],
  ])('too much %s is a protocol failure', async (_, chunk) => {
    const server = await upstream((response) => {
      stream(response, sse(chunk(), chunk()));
      response.end();
    });
    const { error } = await collect(streamChat(ask(server.baseUrl), fast));
    expect(failure(error)).toMatchObject({ category: 'protocol', contentSeen: true, retryable: false });
  });
});

describe('cancel', () => {
  const cancelled = { category: 'cancelled', retryable: false };

  it('before the request makes none', async () => {
    const server = await upstream(() => {});
    const { error } = await collect(streamChat(ask(server.baseUrl, { signal: AbortSignal.abort() })));
    expect(failure(error)).toMatchObject(cancelled);
    expect(server.asked).toHaveLength(0);
  });

  it('while connecting', async () => {
    const silent = createTcpServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const abort = new AbortController();
    silent.on('connection', () => abort.abort());
    const { error } = await collect(streamChat(ask(`https://127.0.0.1:${port}/v1`, { signal: abort.signal })));
    expect(failure(error)).toMatchObject(cancelled);
    silent.close();
  });

  it('while waiting for headers', async () => {
    const abort = new AbortController();
    const server = await upstream(() => abort.abort());
    const { error } = await collect(streamChat(ask(server.baseUrl, { signal: abort.signal })));
    expect(failure(error)).toMatchObject({ ...cancelled, contentSeen: false });
    await server.asked[0]?.closed;
  });

  it('in the stream, and nothing comes after it', async () => {
    const abort = new AbortController();
    const server = await upstream((response) =>
      stream(response, sse(delta({ content: 'a' }), delta({ content: 'b' }))),
    );
    const seen: string[] = [];
    const read = async (): Promise<void> => {
      for await (const event of streamChat(ask(server.baseUrl, { signal: abort.signal }))) {
        seen.push(event.type);
        if (event.type === 'text.delta') abort.abort();
      }
    };
    const error = failure(await read().catch((reason: unknown) => reason));
    expect(error).toMatchObject({ ...cancelled });
    expect(seen).toEqual(['response.started', 'text.delta']);
    await server.asked[0]?.closed;
  });

  it('while the stream is silent', async () => {
    const abort = new AbortController();
    const server = await upstream((response) => {
      stream(response, sse(delta({ content: 'a' })));
      setTimeout(() => abort.abort(), 20);
    });
    const { error } = await collect(streamChat(ask(server.baseUrl, { signal: abort.signal })));
    expect(failure(error)).toMatchObject({ ...cancelled, contentSeen: true });
    await server.asked[0]?.closed;
  });

  it('between retries', async () => {
    const abort = new AbortController();
    const server = await upstream((response) => {
      response.statusCode = 500;
      response.end();
    });
    const read = async (): Promise<void> => {
      const options = { retry: { baseMs: 3_600_000, capMs: 3_600_000 } };
      for await (const event of streamChat(ask(server.baseUrl, { signal: abort.signal }), options)) {
        if (event.type === 'retry') setImmediate(() => abort.abort());
      }
    };
    expect(failure(await read().catch((reason: unknown) => reason))).toMatchObject(cancelled);
    expect(server.asked).toHaveLength(1);
  });
});
