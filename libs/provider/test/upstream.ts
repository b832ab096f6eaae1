import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ProviderEvent, ProviderRequest } from '../src/index.ts';

/** What an upstream was asked. */
export interface Asked {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
  port: number | undefined;
  /** Resolves when the exchange is over for the server, well or not. */
  closed: Promise<void>;
}

export interface Upstream {
  baseUrl: string;
  asked: Asked[];
  stop(): Promise<void>;
}

/** A real HTTP server on a port of its own; `answer` is called with each request, once its body has been read. */
export async function startUpstream(
  answer: (response: ServerResponse, n: number, asked: Asked) => void | Promise<void>,
): Promise<Upstream> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const closed = new Promise<void>((resolve) => response.on('close', resolve));
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      text += chunk;
    });
    request.on('end', () => {
      const { method = '', url: path = '', headers, socket } = request;
      const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
      const entry: Asked = { method, path, headers, body, port: socket.remotePort, closed };
      asked.push(entry);
      Promise.resolve(answer(response, asked.length, entry)).catch(() => response.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    asked,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export const sse = (...chunks: unknown[]): string =>
  chunks.map((chunk) => `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`).join('');

export const delta = (fields: Record<string, unknown>, finish: string | null = null): unknown => ({
  id: 'c1',
  model: 'm-1',
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
});

export const plain = (text: string): string => sse(delta({ content: text }), delta({}, 'stop'), '[DONE]');

export function stream(response: ServerResponse, ...parts: string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const part of parts) response.write(part);
}

export const ask = (baseUrl: string, more: Partial<ProviderRequest> = {}): ProviderRequest => ({
  baseUrl,
  apiKey: 'sk-canary-0123456789',
  model: 'm-1',
  messages: [{ role: 'user', content: 'hello' }],
  ...more,
});

/** All events, and what was thrown after them. */
export async function collect(
  events: AsyncIterable<ProviderEvent>,
): Promise<{ events: ProviderEvent[]; error: unknown }> {
  const seen: ProviderEvent[] = [];
  try {
    for await (const event of events) seen.push(event);
    return { events: seen, error: undefined };
  } catch (error) {
    return { events: seen, error };
  }
}

export const textOf = (events: ProviderEvent[]): string =>
  events.map((event) => (event.type === 'text.delta' ? event.text : '')).join('');
