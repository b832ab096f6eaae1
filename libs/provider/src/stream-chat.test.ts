import fc from 'fast-check';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { ask, collect, delta, plain, sse, startUpstream, stream, textOf, type Upstream } from '../test/upstream.ts';
import { closeConnections, type ProviderEvent, type ProviderOptions, streamChat } from './index.ts';

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

describe('streamChat', () => {
  it('yields what the model says, in order', async () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 2 },
    };
    const server = await upstream((response) => {
      response.setHeader('x-request-id', 'req-1');
      stream(
        response,
        sse(delta({ role: 'assistant', content: '' }), delta({ reasoning_content: 'hm', reasoning: 'hm' })),
        sse(delta({ reasoning: '!' }), delta({ content: 'Hel' }), delta({ content: 'lo' })),
        sse(delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'list', arguments: '{"path":' } }] })),
        sse(delta({ tool_calls: [{ index: 0, function: { arguments: '"."}' } }] }), delta({}, 'tool_calls')),
        sse({ id: 'c1', choices: [], usage }, '[DONE]'),
      );
      response.end();
    });
    const { events, error } = await collect(streamChat(ask(server.baseUrl), fast));
    expect(error).toBeUndefined();
    expect(events).toEqual([
      { type: 'response.started', requestId: 'req-1', responseModelId: 'm-1' },
      { type: 'reasoning.delta', text: 'hm' },
      { type: 'reasoning.delta', text: '!' },
      { type: 'text.delta', text: 'Hel' },
      { type: 'text.delta', text: 'lo' },
      { type: 'tool_call.arguments_delta', index: 0, id: 'a', name: 'list', delta: '{"path":' },
      { type: 'tool_call.arguments_delta', index: 0, id: 'a', name: 'list', delta: '"."}' },
      {
        type: 'usage.updated',
        usage: { inputTokens: 10, cachedInputTokens: 4, outputTokens: 5, reasoningOutputTokens: 2, totalTokens: 15 },
      },
      { type: 'tool_call.completed', index: 0, id: 'a', name: 'list', arguments: '{"path":"."}' },
      { type: 'response.completed', finishReason: 'tool_calls', responseModelId: 'm-1', requestId: 'req-1' },
    ]);
  });

  it('sends the wire request, without a token limit', async () => {
    const server = await upstream((response) => {
      stream(response, plain('ok'));
      response.end();
    });
    const tools = [{ type: 'function' as const, function: { name: 't', description: 'd', parameters: {} } }];
    const headers = { 'X-Team': 'blue' };
    const request = ask(`${server.baseUrl}/`, { tools, reasoningEffort: 'high', headers });
    await collect(streamChat(request));
    expect(server.asked[0]).toMatchObject({
      method: 'POST',
      path: '/v1/chat/completions',
      headers: {
        authorization: 'Bearer sk-canary-0123456789',
        'content-type': 'application/json',
        accept: 'text/event-stream',
        'x-team': 'blue',
      },
    });
    expect(server.asked[0]?.body).toEqual({
      model: 'm-1',
      messages: [{ role: 'user', content: 'hello' }],
      stream: true,
      stream_options: { include_usage: true },
      tools,
      reasoning_effort: 'high',
    });
  });

  it('hands each delta over before the next one is sent', async () => {
    let next: (() => void) | undefined;
    const server = await upstream(async (response) => {
      stream(response);
      for (const word of ['a', 'b', 'c']) {
        const taken = new Promise<void>((resolve) => {
          next = resolve;
        });
        response.write(sse(delta({ content: word })));
        await taken;
      }
      response.end(sse(delta({}, 'stop'), '[DONE]'));
    });
    const seen: string[] = [];
    for await (const event of streamChat(ask(server.baseUrl))) {
      if (event.type !== 'text.delta') continue;
      seen.push(event.text);
      next?.();
    }
    expect(seen).toEqual(['a', 'b', 'c']);
  });

  it('gives the same answer for any cut of the bytes', async () => {
    const text = 'grüße 你好 🙂 "quoted" \n end';
    const fragment = { index: 0, id: 'a', function: { name: 'write', arguments: JSON.stringify({ text }) } };
    const body = Buffer.from(
      sse(delta({ content: text }), delta({ tool_calls: [fragment] }), delta({}, 'tool_calls'), '[DONE]'),
    );
    let cuts: number[] = [];
    const server = await upstream(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.socket?.setNoDelay(true);
      let at = 0;
      for (const cut of cuts) {
        response.write(body.subarray(at, at + cut));
        at += cut;
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end(body.subarray(at));
    });
    const answer = async (): Promise<ProviderEvent[]> => (await collect(streamChat(ask(server.baseUrl)))).events;
    const whole = await answer();
    expect(textOf(whole)).toBe(text);
    expect(whole).toContainEqual(expect.objectContaining({ arguments: JSON.stringify({ text }) }));
    cuts = Array.from({ length: body.length }, () => 1);
    expect(await answer()).toEqual(whole);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 10 }), async (some) => {
        cuts = some;
        expect(await answer()).toEqual(whole);
      }),
      { numRuns: 20 },
    );
  });

  it('uses its connection again, also where the body ends after the end mark', async () => {
    let end = (): void => {};
    const server = await upstream((response) => {
      stream(response, plain('ok'));
      end = () => response.end();
    });
    for (let n = 0; n < 3; n++) {
      await collect(streamChat(ask(server.baseUrl)));
      end();
      await server.asked[n]?.closed;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(new Set(server.asked.map((asked) => asked.port)).size).toBe(1);
  });

  it('takes the answer of a server that does not stream', async () => {
    const calls = [{ id: 'a', function: { name: 'list', arguments: { path: '.' } } }];
    const server = await upstream((response) => {
      response.setHeader('content-type', 'application/json; charset=utf-8');
      response.end(
        JSON.stringify({ choices: [{ message: { content: 'hi', tool_calls: calls }, finish_reason: 'tool_calls' }] }),
      );
    });
    const { events, error } = await collect(streamChat(ask(server.baseUrl)));
    expect(error).toBeUndefined();
    expect(textOf(events)).toBe('hi');
    expect(events).toContainEqual({
      type: 'tool_call.completed',
      index: 0,
      id: 'a',
      name: 'list',
      arguments: '{"path":"."}',
    });
  });

  it('asks without stream_options where a server does not know them, and remembers it', async () => {
    const server = await upstream((response, _, asked) => {
      if ('stream_options' in asked.body) {
        response.statusCode = 422;
        response.end(JSON.stringify({ error: { message: "property 'stream_options' is unsupported" } }));
        return;
      }
      stream(response, plain('ok'));
      response.end();
    });
    const first = await collect(streamChat(ask(server.baseUrl)));
    expect(first.error).toBeUndefined();
    expect(first.events.map((event) => event.type)).not.toContain('retry');
    await collect(streamChat(ask(server.baseUrl)));
    expect(server.asked.map((asked) => 'stream_options' in asked.body)).toEqual([true, false, false]);
  });

  it('ends an answer whose end mark never comes', async () => {
    const server = await upstream((response) => stream(response, sse(delta({ content: 'ok' }, 'stop'))));
    const { events, error } = await collect(streamChat(ask(server.baseUrl), { timeouts: { trailerMs: 30 } }));
    expect(error).toBeUndefined();
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', finishReason: 'stop' });
  });

  it.each([
    ['without an end mark', ''],
    ['in the middle of its usage', 'data: {"usage":{"prompt'],
  ])('takes an answer that ends after its finish reason %s', async (_, rest) => {
    const server = await upstream((response) => {
      stream(response, sse(delta({ content: 'ok' }), delta({}, 'length')), rest);
      response.end();
    });
    const { events, error } = await collect(streamChat(ask(server.baseUrl)));
    expect(error).toBeUndefined();
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', finishReason: 'length' });
  });

  it('closes the connection when its reader leaves', async () => {
    const server = await upstream((response) =>
      stream(response, sse(delta({ content: 'a' }), delta({ content: 'b' }))),
    );
    for await (const event of streamChat(ask(server.baseUrl))) if (event.type === 'text.delta') break;
    await server.asked[0]?.closed;
  });
});
