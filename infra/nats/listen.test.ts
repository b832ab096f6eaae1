import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { formatListen, parseListen, settlePort } from './listen.ts';

it.each([
  ['127.0.0.1:7420', { host: '127.0.0.1', port: 7420 }],
  ['localhost:0', { host: 'localhost', port: 0 }],
  ['[::1]:65535', { host: '::1', port: 65_535 }],
])('parses %s and prints it again', (text, listen) => {
  expect(parseListen(text, 'X')).toEqual(listen);
  expect(formatListen(listen)).toBe(text);
});

it.each(['', '7420', '127.0.0.1', '127.0.0.1:65536', '127.0.0.1:-1', '127.0.0.1:80x', '::1:80', 'a b:1'])(
  'refuses %j by the name of the setting',
  (text) => {
    expect(() => parseListen(text, 'ROOKERY_HTTP')).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining('ROOKERY_HTTP') }),
    );
  },
);

it('picks a port below those of outgoing connections for 0', async () => {
  const { port } = await settlePort({ host: '127.0.0.1', port: 0 }, 'X');
  expect(port).toBeGreaterThanOrEqual(10_240);
  expect(port).toBeLessThan(32_768);
});

it('says that a port is taken, and by which setting', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  await expect(settlePort({ host: '127.0.0.1', port }, 'ROOKERY_HTTP')).rejects.toMatchObject({
    code: 'PORT_IN_USE',
    details: { setting: 'ROOKERY_HTTP', address: `127.0.0.1:${port}` },
  });
  await new Promise((resolve) => server.close(resolve));
  expect(await settlePort({ host: '127.0.0.1', port }, 'ROOKERY_HTTP')).toEqual({ host: '127.0.0.1', port });
});

it('refuses an address that this machine does not have', async () => {
  await expect(settlePort({ host: '192.0.2.1', port: 0 }, 'X')).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
});
