import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { superviseNats } from './nats-process.ts';
import type { Supervised } from './supervised.ts';

/** Node as a server that loads its store for ever, or serves at once. */
const program = (serves: boolean, port: number) => `#!${process.execPath}
setInterval(() => {}, 1000);
${serves ? `require('node:net').createServer((socket) => socket.end('INFO {}\\r\\n')).listen(${port}, '127.0.0.1');` : ''}
`;

let home: string;
const started: Supervised[] = [];
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'rookery-nats-'));
  await mkdir(join(home, 'run'));
});
afterEach(async () => {
  for (const each of started.splice(0)) await each.stop(0);
  await rm(home, { recursive: true, force: true });
});

async function server(serves: boolean): Promise<Supervised> {
  const binary = join(home, 'server.cjs');
  const port = 10_240 + Math.floor(Math.random() * 20_000);
  await writeFile(binary, program(serves, port));
  await chmod(binary, 0o700);
  const options = { baseMs: 1, capMs: 4, say: () => {}, changed: () => {} };
  const nats = await superviseNats({ home, binary, listen: { host: '127.0.0.1', port }, ...options });
  started.push(nats);
  return nats;
}

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

it('is stopped in order while it still loads its store', async () => {
  const nats = await server(false);
  const start = nats.start().catch((error: Error) => error.message);
  const pid = nats.pid ?? 0;
  expect(isRunning(pid)).toBe(true);
  await nats.stop(10_000);
  expect(await start).toBe('nats-server was stopped');
  expect(isRunning(pid)).toBe(false);
});

it('leaves no server behind where it cannot say where it listens', async () => {
  const nats = await server(true);
  await mkdir(join(home, 'run', 'nats.json.part'));
  const start = nats.start().catch((error: Error) => error.message);
  const pid = nats.pid ?? 0;
  expect(await start).toContain('EISDIR');
  expect(isRunning(pid)).toBe(false);
});

it('starts again where only its new pid cannot be recorded', async () => {
  const nats = await server(true);
  await nats.start();
  const before = nats.pid;
  expect(JSON.parse(await readFile(join(home, 'run', 'nats.json'), 'utf8'))).toMatchObject({ pid: before });
  await mkdir(join(home, 'run', 'nats.json.part'));
  await nats.restart(1000);
  while (nats.state !== 'running' || nats.pid === before) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(JSON.parse(await readFile(join(home, 'run', 'nats.json'), 'utf8'))).toMatchObject({ pid: before });
});
