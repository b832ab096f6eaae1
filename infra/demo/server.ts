import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { type ChatRequest, readChatRequest } from './conversation.ts';
import { decideReply, type Reply } from './reply.ts';

const model = 'demo-1';
/** A long conversation with large tool results. */
const maxBodyBytes = 32 * 1024 * 1024;
const wordMs = 15;

export interface DemoProviderOptions {
  host: string;
  /** 0 picks one. */
  port: number;
  /** Wait before each word, for tests. */
  wordMs?: number;
}

export interface DemoProvider {
  /** Base URL for a provider, ends in /v1. */
  url: string;
  stop(): Promise<void>;
}

/**
 * The built-in `demo` provider: an OpenAI-compatible server (GET /v1/models, POST /v1/chat/completions) that says of
 * itself that it is scripted, and calls the real tools when it is asked plainly. Rejects with the error of listen.
 */
export async function startDemoProvider(options: DemoProviderOptions): Promise<DemoProvider> {
  const pace = options.wordMs ?? wordMs;
  const server = createServer((request, response) => {
    answerDemoRequest(request, response, pace).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  const { address, port, family } = server.address() as AddressInfo;
  const host = family === 'IPv6' ? `[${address}]` : address;
  return {
    url: `http://${host}:${port}/v1`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Answers one request to the demo provider, with `pace` milliseconds before each word. */
export async function answerDemoRequest(
  request: IncomingMessage,
  response: ServerResponse,
  pace = wordMs,
): Promise<void> {
  const route = `${request.method} ${request.url?.split('?')[0]}`;
  if (route === 'GET /v1/models') {
    const row = { id: model, object: 'model', created: 0, owned_by: 'rookery', context_length: 32_768 };
    return sendJson(response, 200, { object: 'list', data: [row] });
  }
  if (route !== 'POST /v1/chat/completions') return refuse(response, 404, 'not_found');
  const text = await readBody(request);
  if (text === undefined) return refuse(response, 413, 'request_too_large');
  const chat = readChatRequest(text);
  if (!chat) return refuse(response, 400, 'invalid_request_error');
  const reply = decideReply(chat);
  if (chat.stream) await stream(response, reply, chat, pace);
  else sendJson(response, 200, completion(reply));
}

/** No tokens: nothing was computed by a model. */
const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

const callOf = (reply: { tool: string; arguments: unknown }) => ({
  id: `call_${randomUUID().replaceAll('-', '')}`,
  type: 'function',
  function: { name: reply.tool, arguments: JSON.stringify(reply.arguments) },
});

function completion(reply: Reply): unknown {
  const message = 'text' in reply ? { content: reply.text } : { content: null, tool_calls: [callOf(reply)] };
  const choice = {
    index: 0,
    message: { role: 'assistant', ...message },
    finish_reason: 'text' in reply ? 'stop' : 'tool_calls',
  };
  return { id: `demo-${randomUUID()}`, object: 'chat.completion', created: now(), model, choices: [choice], usage };
}

async function stream(response: ServerResponse, reply: Reply, request: ChatRequest, pace: number): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const head = { id: `demo-${randomUUID()}`, object: 'chat.completion.chunk', created: now(), model };
  const send = (fields: unknown): void => {
    response.write(`data: ${JSON.stringify({ ...head, ...(fields as object) })}\n\n`);
  };
  const delta = (fields: unknown, finish: string | null = null): void =>
    send({ choices: [{ index: 0, delta: fields, finish_reason: finish }] });
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  delta({ role: 'assistant', content: '' });
  if ('text' in reply) {
    for (const word of words(reply.text)) {
      await wait(pace, undefined, { signal: gone.signal }).catch(() => {});
      if (gone.signal.aborted) return;
      delta({ content: word });
    }
  } else {
    delta({ tool_calls: [{ index: 0, ...callOf(reply) }] });
  }
  delta({}, 'text' in reply ? 'stop' : 'tool_calls');
  if (request.includeUsage) send({ choices: [], usage });
  response.end('data: [DONE]\n\n');
}

/** Words with the space after them; Chinese, which has none, in pairs of characters. */
function words(text: string): string[] {
  return text.match(/\p{Script=Han}{1,2}|[^\s\p{Script=Han}]+\s*|\s+/gu) ?? [];
}

const now = (): number => Math.floor(Date.now() / 1000);

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes > maxBodyBytes) return undefined;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function refuse(response: ServerResponse, status: number, code: string): void {
  sendJson(response, status, { error: { code, type: code, message: code } });
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}
