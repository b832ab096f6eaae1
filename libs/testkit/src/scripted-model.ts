import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ScriptedAnswer } from './scripted-model-answer.ts';
import { directiveSteps, type ModelMessage, messageText } from './scripted-model-directive.ts';
import type { ModelStep } from './scripted-model-steps.ts';

/** A chat request that a scripted model got. */
export interface ModelRequest {
  /** 1, 2, … */
  n: number;
  headers: IncomingHttpHeaders;
  body: {
    model?: string;
    messages: ModelMessage[];
    tools?: { function: { name: string } }[];
    [field: string]: unknown;
  };
  at: number;
  /** What became of the exchange: `left` is a client that closed before its end. */
  state: 'open' | 'answered' | 'left';
}

/** Answers request number n (1, 2, …); a list answers in its order and its last entry for ever. */
export type ModelScript = ModelStep[][] | ((request: ModelRequest, n: number) => ModelStep[] | Promise<ModelStep[]>);

export interface ScriptedModelOptions {
  /** Absent: directives in the user's messages decide (scripted-model-directive.ts). */
  script?: ModelScript;
  /** 0 or absent picks one. */
  port?: number;
}

export interface ScriptedModel {
  /** Base URL for a provider, ends in /v1. */
  url: string;
  port: number;
  requests: ModelRequest[];
  stop(): Promise<void>;
}

/**
 * An OpenAI-compatible model server for tests: POST /v1/chat/completions (streaming), GET /v1/models. GET /requests
 * tells another process what was asked: `[{ n, at, state, model, user, messages }]`, `user` being the newest user text.
 */
export async function startScriptedModel(options: ScriptedModelOptions = {}): Promise<ScriptedModel> {
  const requests: ModelRequest[] = [];
  const server = createServer((request, response) => {
    handle(request, response, requests, options.script).catch((error: unknown) => {
      // A wrong directive must be seen by the test that wrote it.
      if (!response.headersSent) response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { code: 'bad_script', message: String(error) } }));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    port,
    requests,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  requests: ModelRequest[],
  script: ModelScript | undefined,
): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname === '/requests') return sendJson(response, requests.map(summary));
  if (pathname === '/v1/models')
    return sendJson(response, { object: 'list', data: [{ id: 'scripted-v1', object: 'model' }] });
  if (pathname !== '/v1/chat/completions' || request.method !== 'POST') {
    response.writeHead(404).end();
    return;
  }
  const gone = new AbortController();
  const n = requests.length + 1;
  const entry: ModelRequest = { n, headers: request.headers, body: { messages: [] }, at: Date.now(), state: 'open' };
  requests.push(entry);
  response.on('close', () => {
    entry.state = response.writableFinished ? 'answered' : 'left';
    gone.abort();
  });
  entry.body = await readBody(request);
  const steps = await decide(entry, script);
  await new ScriptedAnswer(response, gone.signal, `req-${n}`, entry.body.model ?? 'scripted-v1').play(steps);
}

function decide(request: ModelRequest, script: ModelScript | undefined): ModelStep[] | Promise<ModelStep[]> {
  if (!script) return directiveSteps(request.body.messages);
  if (typeof script === 'function') return script(request, request.n);
  return script[Math.min(request.n, script.length) - 1] ?? [{ text: 'ok' }];
}

function summary({ n, at, state, body }: ModelRequest): Record<string, unknown> {
  const newest = body.messages.findLast((message) => message.role === 'user');
  return { n, at, state, model: body.model, user: newest ? messageText(newest) : '', messages: body.messages.length };
}

async function readBody(request: IncomingMessage): Promise<ModelRequest['body']> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as ModelRequest['body'];
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}
