import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connectBus } from '@rookery/bus';
import { openJournal } from '@rookery/journal';
import { eventually, type RpcClient } from '@rookery/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import WebSocket from 'ws';
import { type GatewayHouse, type HttpAnswer, startGatewayHouse, upgradeStatus } from './gateway-house.ts';

let house: GatewayHouse;
let token: string;
let own: string;
let host: string;

beforeAll(async () => {
  house = await startGatewayHouse();
  token = await house.token();
  own = house.url;
  host = new URL(own).host;
});
afterAll(() => house.stop());

/** What anybody may ask without a credential; everything else must refuse. */
const PUBLIC = new Set([
  'GET /healthz',
  'HEAD /healthz',
  'GET /readyz',
  'HEAD /readyz',
  'POST /auth/exchange',
  'POST /hooks/:name',
  'GET /',
  'HEAD /',
  'GET /*',
  'HEAD /*',
]);

const pathOf = (url: string) => url.replace(':name', 'none').replace('*', 'index.html');
const FOREIGN = 'http://127.0.0.1:1';
const body = (method: string) =>
  method === 'POST' ? { body: { jsonrpc: '2.0', id: 1, method: 'thread.list', params: {} } } : {};
const ask = (method: string, url: string, headers: Record<string, string>): Promise<HttpAnswer> =>
  house.http(pathOf(url), { method, headers, ...body(method) });

async function session(): Promise<{ cookie: string; key: string }> {
  const { code } = await house.rpc('auth.create_code');
  const answer = await house.http('/auth/exchange', { method: 'POST', headers: { origin: own }, body: { code } });
  expect(answer.status).toBe(200);
  const [cookie = ''] = answer.headers['set-cookie'] ?? [];
  expect(cookie).toMatch(/^rookery_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
  return { cookie: cookie.split(';')[0] ?? '', key: String(answer.json().key) };
}

test('every route refuses what has no credential, but for those that are listed here', async () => {
  expect(house.gateway.routes.length).toBeGreaterThan(8);
  const open: string[] = [];
  for (const { method, url } of house.gateway.routes) {
    const none = await ask(method, url, {});
    const wrong = await ask(method, url, { authorization: `Bearer ${'x'.repeat(43)}` });
    const name = `${method} ${url}`;
    if (PUBLIC.has(name)) open.push(name);
    else expect([name, none.status, wrong.status]).toEqual([name, 401, 401]);
  }
  expect(open).toContain('POST /hooks/:name');
  for (const path of ['/rpc', '/rpc/v1']) {
    expect(await upgradeStatus(`${own}${path}`, {})).toBe(401);
    expect(await upgradeStatus(`${own}${path}`, { authorization: 'Bearer wrong' })).toBe(401);
    expect(await upgradeStatus(`${own}${path}`, { authorization: `Bearer ${token}` })).toBe(101);
  }
});

test('every route refuses an unknown Host, upgrades and unknown addresses too', async () => {
  const routes = [...house.gateway.routes, { method: 'GET', url: '/nowhere' }];
  for (const { method, url } of routes) {
    const name = `${method} ${url}`;
    for (const strange of [
      'evil.example',
      `evil.example:${new URL(own).port}`,
      '127.0.0.1.evil.example',
      'localhost.',
      '169.254.1.1',
    ]) {
      const answer = await ask(method, url, { host: strange, authorization: `Bearer ${token}` });
      expect([name, strange, answer.status]).toEqual([name, strange, 421]);
    }
  }
  expect(await upgradeStatus(`${own}/rpc`, { host: 'evil.example', authorization: `Bearer ${token}` })).toBe(421);
  for (const name of ['localhost', '127.0.0.1', '[::1]']) {
    expect((await ask('GET', '/healthz', { host: `${name}:${new URL(own).port}` })).status).toBe(200);
  }
});

test('every route refuses a foreign Origin, also with the right token, and before the upgrade', async () => {
  for (const origin of [
    FOREIGN,
    'null',
    `https://${host}`,
    `http://localhost:${new URL(own).port}`,
    `${own}.evil.example`,
  ]) {
    for (const { method, url } of house.gateway.routes) {
      const answer = await ask(method, url, { origin, authorization: `Bearer ${token}` });
      expect([`${method} ${url}`, origin, answer.status]).toEqual([`${method} ${url}`, origin, 403]);
    }
    expect(await upgradeStatus(`${own}/rpc`, { origin, authorization: `Bearer ${token}` })).toBe(403);
  }
  expect(await upgradeStatus(`${own}/rpc`, { origin: own, authorization: `Bearer ${token}` })).toBe(101);
});

test('a page needs cookie, key and its own Origin; one alone opens nothing', async () => {
  const { cookie, key } = await session();
  const call = (headers: Record<string, string>) => ask('POST', '/rpc/v1', headers);
  expect((await call({ cookie, origin: own, 'x-rookery-key': key })).status).toBe(200);
  expect((await call({ cookie, origin: own })).status).toBe(401);
  expect((await call({ cookie, 'x-rookery-key': key })).status).toBe(403);
  expect((await call({ origin: own, 'x-rookery-key': key })).status).toBe(401);
  expect((await call({ cookie: `${cookie}x`, origin: own, 'x-rookery-key': key })).status).toBe(401);
  expect((await call({ cookie, origin: FOREIGN, 'x-rookery-key': key })).status).toBe(403);
  // Another port of this host may have set a cookie of the same name.
  expect((await call({ cookie: `rookery_session=other; ${cookie}`, origin: own, 'x-rookery-key': key })).status).toBe(
    200,
  );
  expect(await upgradeStatus(`${own}/rpc`, { cookie, origin: own }, ['rookery.v1', `rookery.key.${key}`])).toBe(101);
  expect(await upgradeStatus(`${own}/rpc`, { cookie, origin: own }, ['rookery.v1'])).toBe(401);
  expect(await upgradeStatus(`${own}/rpc`, { cookie }, ['rookery.v1', `rookery.key.${key}`])).toBe(403);
});

test('a cookie that another port of the host recorded and replays is worth nothing', async () => {
  const { cookie } = await session();
  const recorded: string[] = [];
  const thief = createServer((request, response) => {
    recorded.push(request.headers.cookie ?? '');
    response.end();
  });
  await new Promise<void>((resolve) => thief.listen(0, '127.0.0.1', resolve));
  // A browser sends the cookie to every port of the host.
  await fetch(`http://127.0.0.1:${(thief.address() as AddressInfo).port}/`, { headers: { cookie } });
  thief.close();
  const [stolen = ''] = recorded;
  expect(stolen).toBe(cookie);
  expect((await ask('POST', '/rpc/v1', { cookie: stolen, origin: own })).status).toBe(401);
  expect((await ask('POST', '/rpc/v1', { cookie: stolen, origin: own, 'x-rookery-key': 'guess' })).status).toBe(401);
  const form = await house.http('/rpc/v1', {
    method: 'POST',
    headers: { cookie: stolen, origin: FOREIGN, 'content-type': 'application/x-www-form-urlencoded' },
    body: 'method=runtime.shutdown',
  });
  expect(form.status).toBe(403);
});

test('a code opens one session, and only for a while', async () => {
  const { code } = await house.rpc('auth.create_code');
  const trade = (value: unknown) =>
    house.http('/auth/exchange', { method: 'POST', headers: { origin: own }, body: { code: value } });
  const both = await Promise.all([trade(code), trade(code)]);
  expect(both.map((answer) => answer.status).sort()).toEqual([200, 401]);
  expect((await trade('unknown')).status).toBe(401);
  const foreign = await house.http('/auth/exchange', { method: 'POST', headers: { origin: FOREIGN }, body: { code } });
  expect(foreign.status).toBe(403);
});

test('signing out ends the session and its open socket', async () => {
  const { cookie, key } = await session();
  const headers = { cookie, origin: own };
  const socket = new WebSocket(`${own.replace('http', 'ws')}/rpc`, ['rookery.v1', `rookery.key.${key}`], { headers });
  await new Promise((resolve) => socket.once('open', resolve));
  expect(socket.protocol).toBe('rookery.v1');
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  const out = await house.http('/auth/logout', { method: 'POST', headers: { ...headers, 'x-rookery-key': key } });
  expect(out.status).toBe(204);
  expect(await closed).toBe(1008);
  expect((await ask('POST', '/rpc/v1', { ...headers, 'x-rookery-key': key })).status).toBe(401);
});

test('a token in a query string is refused, whatever else is right', async () => {
  const authorization = `Bearer ${token}`;
  for (const query of [`token=${token}`, `access_token=${token}`, `x=${token}`, 'code=abc']) {
    expect((await ask('POST', `/rpc/v1?${query}`, { authorization })).status).toBe(401);
    expect((await ask('GET', `/healthz?${query}`, {})).status).toBe(401);
    expect(await upgradeStatus(`${own}/rpc?${query}`, { authorization })).toBe(401);
  }
  expect((await ask('POST', `/rpc/v1?gatewayUrl=ws://evil.example`, { authorization })).status).toBe(200);
});

test('every answer carries the security headers', async () => {
  for (const path of ['/', '/healthz', '/nowhere', '/rpc']) {
    const { headers } = await house.http(path);
    expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'");
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['referrer-policy']).toBe('no-referrer');
    expect(headers['access-control-allow-origin']).toBeUndefined();
  }
});

test('only JSON is read, strictly, and not without end', async () => {
  const post = (text: string, headers: Record<string, string> = {}) =>
    house.http('/rpc/v1', { method: 'POST', headers: { authorization: `Bearer ${token}`, ...headers }, body: text });
  expect((await post('{}', { 'content-type': 'text/plain' })).status).toBe(415);
  expect((await post('x'.repeat(1024 * 1024 + 1))).status).toBe(413);
  const codes = async (text: string) =>
    ((await post(text)).json().error as { code: number; data: { code: string } }).data.code;
  expect(await codes('{"jsonrpc":"2.0","id":1,')).toBe('PARSE_ERROR');
  expect(await codes('[{"jsonrpc":"2.0","id":1,"method":"thread.list"}]')).toBe('INVALID_REQUEST');
  expect(await codes('{"jsonrpc":"2.0","id":1,"id":2,"method":"thread.list"}')).toBe('INVALID_REQUEST');
  expect(await codes('{"jsonrpc":"2.0","id":1,"method":"event.replay","params":{"afterSeq":9007199254740993}}')).toBe(
    'INVALID_REQUEST',
  );
  expect(await codes('{"jsonrpc":"2.0","id":1,"method":"event.replay","params":{"afterSeq":1e999}}')).toBe(
    'INVALID_REQUEST',
  );
  expect(
    await codes(`{"jsonrpc":"2.0","id":1,"method":"x","params":${'['.repeat(400_000)}${']'.repeat(400_000)}}`),
  ).toBe('INVALID_REQUEST');
  expect(await codes('{"jsonrpc":"2.0","id":1,"method":"nothing.here"}')).toBe('METHOD_NOT_FOUND');
  expect(await codes('{"jsonrpc":"2.0","id":1,"method":"thread.get","params":{"threadId":"t","more":1}}')).toBe(
    'INVALID_PARAMS',
  );
});

test('a socket that sends too much or a binary frame does not get far', async () => {
  const client = await house.client();
  const answers: { error?: { code: number } }[] = [];
  client.socket.on('message', (data) => answers.push(JSON.parse(data.toString())));
  client.socket.send(Buffer.from('{}'));
  await eventually('a refusal', () => answers.some((answer) => answer.error?.code === -32600));
  client.socket.send('x'.repeat(1024 * 1024 + 1));
  expect((await client.closed).code).toBe(1009);
});

test('ids of threads that are not here are refused alike on every method', async () => {
  const client = await house.client();
  const ids = { threadId: 'thread_of_somebody', branchId: 'branch_of_somebody' };
  await expect(client.request('thread.get', { threadId: ids.threadId })).rejects.toMatchObject({
    code: 'THREAD_NOT_FOUND',
  });
  await expect(client.request('turn.list', ids)).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
  for (const method of ['process.read', 'process.stop']) {
    await expect(client.request(method, { threadId: ids.threadId, processId: 'process_x' })).rejects.toMatchObject({
      code: 'PROCESS_NOT_FOUND',
    });
  }
  await client.close();
});

test('a new token ends everything that the old one opened, at every gateway', async () => {
  const second = await house.startGateway(1);
  const url = `http://127.0.0.1:${second.address.port}`;
  const { cookie, key } = await session();
  const clients: RpcClient[] = [await house.client(), await house.client({ url })];
  const { token: fresh } = await house.rpc('token.rotate');
  for (const client of clients) expect((await client.closed).code).toBe(1008);
  expect(fresh).not.toBe(token);
  expect(await house.token()).toBe(fresh);
  expect((await stat(join(house.home, 'token'))).mode & 0o777).toBe(0o600);
  for (const base of [own, url])
    expect(await upgradeStatus(`${base}/rpc`, { authorization: `Bearer ${token}` })).toBe(401);
  for (const base of [own, url])
    expect(await upgradeStatus(`${base}/rpc`, { authorization: `Bearer ${fresh}` })).toBe(101);
  expect((await ask('POST', '/rpc/v1', { cookie, origin: own, 'x-rookery-key': key })).status).toBe(401);
  token = String(fresh);
  await second.stop();
});

test('codes and tokens are tried in vain, and not for long', async () => {
  const statuses = new Set<number>();
  for (let attempt = 0; attempt < 80; attempt += 1) {
    statuses.add((await ask('POST', '/rpc/v1', { authorization: `Bearer guess${attempt}` })).status);
    statuses.add((await house.http('/auth/exchange', { method: 'POST', body: { code: `guess${attempt}` } })).status);
  }
  expect([...statuses].sort()).toEqual([401, 429]);
  // The right one still passes.
  expect((await ask('POST', '/rpc/v1', { authorization: `Bearer ${token}` })).status).toBe(200);
});

test('credentials stand in no log, no journal, no read model and no bucket', async () => {
  const { cookie, key } = await session().catch(async () => {
    // The limit of the test before may still hold.
    return { cookie: 'rookery_session=none', key: 'none' };
  });
  await ask('POST', `/rpc/v1?token=${token}`, { cookie, origin: own, 'x-rookery-key': key });
  const client = await house.client();
  await expect(client.request('thread.create', { title: `my token is ${token}` })).rejects.toMatchObject({
    code: 'SECRET_REFUSED',
  });
  await client.close();
  const secrets = [token, key, cookie.split('=')[1] ?? '', (await house.rpc('auth.create_code')).code as string].filter(
    (value) => value.length > 8,
  );
  const log = house.log();
  expect(log).toContain('refused');
  const bus = await connectBus({
    url: house.nats.url,
    user: 'gateway',
    seed: house.nats.seed('gateway'),
    name: 'look',
  });
  const page = await openJournal(bus).readPage({ fromSeq: 1, max: 1000 });
  await bus.close();
  const folder = join(house.home, 'gateway', '0');
  const files = await Promise.all(
    (await readdir(folder)).map(async (name) => (await readFile(join(folder, name))).toString('latin1')),
  );
  const store = await storeText(join(house.nats.home, 'nats', 'store'));
  expect(store).toContain(createHash('sha256').update(token).digest('hex'));
  for (const secret of secrets) {
    for (const text of [log, JSON.stringify(page), ...files, store]) expect(text.includes(secret)).toBe(false);
  }
});

async function storeText(folder: string): Promise<string> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile());
  const texts = await Promise.all(
    files.map(async (entry) => (await readFile(join(entry.parentPath, entry.name))).toString('latin1')),
  );
  return texts.join('\n');
}
