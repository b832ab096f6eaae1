import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identify, isAlive } from '@rookery/read-model';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { endLeftovers, recordProcesses } from './leftovers.ts';

let home: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'rookery-left-'));
  mkdirSync(join(home, 'run'));
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(home, { recursive: true });
});

function sleeper(): { pid: number; ended: Promise<unknown> } {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  children.push(child);
  return {
    pid: child.pid ?? 0,
    ended: new Promise((resolve) => child.once('exit', (_code, signal) => resolve(signal))),
  };
}

it('ends what an earlier supervisor recorded', async () => {
  const one = sleeper();
  const two = sleeper();
  recordProcesses(home, [
    { name: 'agent', pid: one.pid },
    { name: 'nats-server', pid: two.pid },
  ]);
  expect(await endLeftovers(home, 1000)).toEqual(['agent', 'nats-server']);
  expect(await one.ended).toBe('SIGTERM');
  expect(await two.ended).toBe('SIGTERM');
});

it('leaves a process alone that only has the same pid', async () => {
  const other = sleeper();
  const record = { processes: [{ name: 'agent', pid: other.pid, startTime: 'earlier' }] };
  writeFileSync(join(home, 'run/supervisor.json'), JSON.stringify(record));
  expect(await endLeftovers(home, 1000)).toEqual([]);
  const identity = identify(other.pid);
  expect(identity !== null && isAlive(identity)).toBe(true);
});

it('finds a server that was never recorded by its pid file, and no other process', async () => {
  const configuration = join(home, 'nats/nats.conf');
  mkdirSync(join(home, 'nats'));
  const server = spawn('sh', ['-c', `sleep 60; : ${configuration}`], { stdio: 'ignore' });
  children.push(server);
  const other = sleeper();
  writeFileSync(join(home, 'nats/nats.pid'), String(other.pid));
  expect(await endLeftovers(home, 1000)).toEqual([]);
  writeFileSync(join(home, 'nats/nats.pid'), String(server.pid));
  expect(await endLeftovers(home, 1000)).toEqual(['nats-server']);
});

it('has nothing to do in a new or damaged home', async () => {
  expect(await endLeftovers(home, 10)).toEqual([]);
  writeFileSync(join(home, 'run/supervisor.json'), '{');
  expect(await endLeftovers(home, 10)).toEqual([]);
});
