import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type Bus, connectBus } from '@rookery/bus';
import { openJournal } from '@rookery/journal';
import { openDatabase } from '@rookery/read-model';
import { commitOf, eventually, startNats, type TestNats } from '@rookery/testkit';
import { afterEach, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function startServer(options: Parameters<typeof startNats>[0] = {}): Promise<TestNats> {
  const nats = await startNats(options);
  cleanups.push(() => nats.stop());
  return nats;
}

/** A service as a process of its own, from the source tree. */
function startService(name: string, home: string, natsUrl: string) {
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    ROOKERY_HOME: home,
    ROOKERY_NATS_URL: natsUrl,
    ROOKERY_HTTP: '127.0.0.1:0',
    ROOKERY_WORKSPACES_ROOT: home,
    ROOKERY_LOG: 'debug',
  };
  const child: ChildProcess = spawn(process.execPath, ['--import', 'tsx', `apps/${name}/src/main.ts`], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  cleanups.push(async () => child.kill('SIGKILL'));
  const found = { output: '' };
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      found.output += text;
    });
  }
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const logged = (text: string) =>
    eventually(`the log line ${text} of ${name}`, () => found.output.includes(text), { timeoutMs: 45_000 });
  return { child, found, exited, logged };
}

test.each(['agent', 'gateway', 'memory', 'channels', 'tool-runner'])(
  '%s waits for a house that is not provisioned yet, and ends in order when it is told to meanwhile',
  async (name) => {
    const nats = await startServer({ provisioned: false });
    const service = startService(name, nats.home, nats.url);
    await service.logged('is not there yet');
    service.child.kill('SIGTERM');
    expect(await service.exited).toBe(0);
    expect(service.found.output).not.toContain('"started"');
  },
);

test('a service that waits for a server ends in order when it is told to', async () => {
  const nats = await startServer();
  // Takes connections and says nothing.
  const silent = createServer();
  silent.listen(0, '127.0.0.1');
  cleanups.push(async () => silent.close());
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const service = startService('agent', nats.home, `nats://127.0.0.1:${port}`);
  const [socket] = await once(silent, 'connection');
  cleanups.push(async () => socket.destroy());
  service.child.kill('SIGTERM');
  expect(await service.exited).toBe(0);
});

test('a service whose read model has failed ends with an error, so that it is started again', async () => {
  const nats = await startServer();
  const service = startService('agent', nats.home, nats.url);
  await service.logged('"started"');
  const db = openDatabase(`${nats.home}/agent/0/agent.db`, { synchronous: 'NORMAL' });
  db.exec('DROP TABLE subject_heads');
  db.close();
  const bus: Bus = await connectBus({ url: nats.url, user: 'agent', seed: nats.seed('agent'), name: 'test' });
  cleanups.push(() => bus.close());
  const subject = 'journal.canary';
  await openJournal(bus).append({ subject, expected: 0, commit: commitOf(subject, 'a') });
  expect(await service.exited).toBe(1);
  expect(service.found.output).toContain('the read model agent.db is failed');
});
