import { connect as connectTcp, createServer } from 'node:net';
import { connectBus } from '@rookery/bus';
import { eventually, startNats } from '@rookery/testkit';
import { expect, it } from 'vitest';

it('a connection that the server closes in mid-handshake is tried again soon, not after the client’s own 20 s', async () => {
  const nats = await startNats({ provisioned: false });
  const target = new URL(nats.url);
  let closesNext = false;
  // Such a connection gets the server's greeting and is closed as soon as the client answers it.
  const proxy = createServer((client) => {
    const server = connectTcp(Number(target.port), target.hostname);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
      from.on('data', (data) => {
        if (closesNext && from === client) {
          closesNext = false;
          client.destroy();
        } else to.write(data);
      });
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const address = proxy.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const seed = nats.seed('agent');
  const bus = await connectBus({ url: `nats://127.0.0.1:${port}`, user: 'agent', seed, name: 'test' });
  try {
    await nats.kill();
    await eventually('the loss', () => !bus.isConnected());
    closesNext = true;
    await nats.restart();
    await eventually('the connection', () => bus.isConnected(), { timeoutMs: 15_000 });
    expect(closesNext).toBe(false);
  } finally {
    await bus.close();
    await nats.stop();
    await new Promise((resolve) => proxy.close(resolve));
  }
});
