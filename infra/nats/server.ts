import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { AppError } from '@rookery/protocol';
import type { Listen } from './listen.ts';

export interface ServerOptions {
  binary: string;
  configuration: string;
  listen: Listen;
  logFile: string;
  /** Milliseconds until the server must take connections (a large store takes seconds to load). */
  readyMs?: number;
}

export interface RunningServer {
  /** 0 where it could not be started. */
  pid: number;
  process: ChildProcess;
  /** Resolves with what ended it. */
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** SIGTERM, then SIGKILL after `killMs`. */
  stop(killMs?: number): Promise<void>;
}

/** A server that was started and may still be loading its store. */
export interface LaunchedServer extends RunningServer {
  /**
   * Resolves once it takes connections; rejects with PORT_IN_USE, or NATS_MISSING with the last lines of its log, where it
   * ends before. One that is not ready in time is ended.
   */
  ready: Promise<void>;
}

/** The first line that a NATS server sends, parsed; null where nobody answers like one. */
export function readServerInfo(listen: Listen, timeoutMs = 1000): Promise<Record<string, unknown> | null> {
  return new Promise((resolve) => {
    const socket = connect(listen.port, listen.host);
    let text = '';
    const finish = (info: Record<string, unknown> | null) => {
      socket.destroy();
      resolve(info);
    };
    socket.setTimeout(timeoutMs, () => finish(null));
    socket.once('error', () => finish(null));
    socket.once('close', () => finish(null));
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      const end = text.indexOf('\r\n');
      if (end < 0) return;
      try {
        finish(text.startsWith('INFO ') ? JSON.parse(text.slice(5, end)) : null);
      } catch {
        finish(null);
      }
    });
  });
}

/**
 * Starts nats-server. It runs in a process group of its own, so that a terminal's Ctrl-C reaches only the supervisor, which
 * stops it last.
 */
export function launchServer(options: ServerOptions): LaunchedServer {
  const child = spawn(options.binary, ['-c', options.configuration], {
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-4000);
  });
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('error', (error) => {
      stderr += String(error);
      resolve({ code: 127, signal: null });
    });
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  let running = true;
  void exited.then(() => {
    running = false;
  });
  const waitReady = async () => {
    const deadline = Date.now() + (options.readyMs ?? 60_000);
    while (running) {
      if ((await readServerInfo(options.listen)) !== null && running) return;
      if (Date.now() > deadline) {
        child.kill('SIGKILL');
        await exited;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw await failure(stderr, options);
  };
  const ready = waitReady();
  // Whoever only wants to know its end may leave this alone.
  ready.catch(() => undefined);
  const stop = async (killMs = 10_000) => {
    if (!running) return;
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), killMs);
    await exited;
    clearTimeout(timer);
  };
  return { pid: child.pid ?? 0, process: child, exited, ready, stop };
}

/** Starts nats-server and waits until it takes connections; PORT_IN_USE or NATS_MISSING as `LaunchedServer.ready`. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const server = launchServer(options);
  await server.ready;
  return server;
}

async function failure(stderr: string, options: ServerOptions): Promise<AppError> {
  const log = await readFile(options.logFile, 'utf8').catch(() => '');
  const last = log.trim().split('\n').slice(-3).join(' / ');
  const message = `nats-server did not start: ${stderr.trim() || last || 'it said nothing'} (log: ${options.logFile}).`;
  return new AppError(/address already in use/i.test(message) ? 'PORT_IN_USE' : 'NATS_MISSING', { message });
}
