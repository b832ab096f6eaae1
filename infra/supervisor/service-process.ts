import { spawn } from 'node:child_process';
import type { LogFile } from './log-file.ts';
import { LineSplitter, noteworthy } from './log-lines.ts';
import type { Exit, Launched } from './supervised.ts';

export interface ServiceProgram {
  name: string;
  /** Bundle that is run. */
  entry: string;
  /** Options of Node itself. */
  flags: readonly string[];
  env: NodeJS.ProcessEnv;
  log: LogFile;
  /** A warning or worse that it logged. */
  warn(text: string): void;
}

/**
 * Starts a service in a process group of its own (a terminal's Ctrl-C must reach only the supervisor), with an IPC
 * channel: it says `{type: 'ready'}` there, and its closing tells the service that the supervisor is gone.
 */
export function launchService(program: ServiceProgram): Launched {
  const child = spawn(process.execPath, [...program.flags, program.entry], {
    detached: true,
    env: program.env,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  for (const stream of [child.stdout, child.stderr]) {
    const lines = new LineSplitter();
    const take = (complete: string[]) => {
      for (const line of complete) {
        program.log.write(`${line}\n`);
        const text = noteworthy(line);
        if (text !== null) program.warn(text);
      }
    };
    stream?.setEncoding('utf8');
    stream?.on('data', (text: string) => take(lines.push(text)));
    stream?.once('end', () => take(lines.flush()));
  }
  const exited = new Promise<Exit>((resolve) => {
    child.once('error', (error) => {
      program.warn(error.message);
      resolve({ code: 127, signal: null });
    });
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  let running = true;
  void exited.then(() => {
    running = false;
  });
  const ready = new Promise<void>((resolve) => {
    child.on('message', (message) => {
      if ((message as { type?: unknown } | null)?.type === 'ready') resolve();
    });
  });
  const stop = async (graceMs: number) => {
    if (!running) return;
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
    await exited;
    clearTimeout(timer);
  };
  return { pid: child.pid ?? 0, exited, ready, stop, kill: () => void child.kill('SIGKILL') };
}
