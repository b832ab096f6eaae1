import { AppError, SERVER, type WireEvent } from '@rookery/protocol';
import WebSocket from 'ws';
import { gatewayUrl, homeFolder, readToken } from './home.ts';
import { notRunning, rpcFailure, tokenRefused } from './rpc-errors.ts';

/** The connection ended before the answer: what was asked for may have been done. */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost';
}

export interface RpcSocket {
  /** Throws the gateway's AppError, or ConnectionLost. */
  request<T>(method: string, params?: unknown): Promise<T>;
  /** Resolves when the connection has ended, however it did. */
  ended: Promise<void>;
  close(): void;
}

const PROTOCOL = 13;
const REQUEST_MS = 30_000;
const PING_MS = 10_000;

/** Opens the WebSocket of the home's gateway and initializes; SERVICE_UNAVAILABLE or UNAUTHORIZED where it cannot. */
export async function openSocket(onEvent: (event: WireEvent) => void): Promise<RpcSocket> {
  const home = homeFolder();
  const token = await readToken(home);
  const url = await gatewayUrl(home);
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/rpc`, {
    headers: { authorization: `Bearer ${token}` },
    handshakeTimeout: 5000,
    perMessageDeflate: false,
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('unexpected-response', (_request, response) => {
      response.resume();
      if (response.statusCode === 401) reject(tokenRefused(home));
      else
        reject(
          new AppError('SERVICE_UNAVAILABLE', { message: `The gateway at ${url} answered ${response.statusCode}.` }),
        );
    });
    socket.once('error', (error) => reject(notRunning(url, error)));
  });
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let last = 0;
  // A gateway that went away without a word is noticed by its missing pong.
  let alive = true;
  const beat = setInterval(() => {
    if (!alive) return socket.terminate();
    alive = false;
    return socket.ping();
  }, PING_MS);
  socket.on('pong', () => {
    alive = true;
  });
  socket.on('error', () => socket.terminate());
  const ended = new Promise<void>((resolve) => {
    socket.once('close', () => {
      clearInterval(beat);
      for (const { reject } of waiting.values()) reject(new ConnectionLost());
      waiting.clear();
      resolve();
    });
  });
  socket.on('message', (data) => {
    const message = JSON.parse(data.toString());
    if (message.method === 'event') return onEvent(message.params);
    const entry = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error !== undefined) return entry?.reject(rpcFailure(message.error));
    return entry?.resolve(message.result);
  });

  const request = <T>(method: string, params: unknown = {}): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      if (socket.readyState !== WebSocket.OPEN) return reject(new ConnectionLost());
      last += 1;
      const id = last;
      const timer = setTimeout(() => {
        // Closing settles every request of this connection, and the caller connects again.
        socket.terminate();
      }, REQUEST_MS);
      const settle =
        <V>(then: (value: V) => void) =>
        (value: V) => {
          clearTimeout(timer);
          then(value);
        };
      waiting.set(id, { resolve: settle((value) => resolve(value as T)), reject: settle(reject) });
      return socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    });

  try {
    await request('initialize', {
      protocolVersion: PROTOCOL,
      client: { name: 'rookery-cli', version: SERVER.version },
    });
  } catch (error) {
    socket.terminate();
    throw error;
  }
  return { request, ended, close: () => socket.close() };
}
