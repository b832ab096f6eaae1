import { mkdir, rm, writeFile } from 'node:fs/promises';
import { Agent, createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connectBus, openBucket } from '@rookery/bus';
import { openJournal } from '@rookery/journal';
import { formatSubject, type WireEvent } from '@rookery/protocol';
import { eventually, type RpcClient } from '@rookery/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GatewayHouse, MODEL, newThread, PROVIDER, startGatewayHouse, useModel } from './gateway-house.ts';

let house: GatewayHouse;
let client: RpcClient;
const KEY = 'sk-live-0123456789abcdef';

beforeAll(async () => {
  house = await startGatewayHouse();
  await Promise.all([house.start('tool'), house.start('agent'), house.start('memory'), house.start('channels')]);
  client = await house.client();
});
afterAll(() => house.stop());

const models = [{ id: 'm-1', displayName: 'One', contextWindow: 1000 }];
const custom = { kind: 'custom', providerId: 'Local', displayName: 'Local', baseUrl: 'http://127.0.0.1:9/v1/', models };

/** Status of a delivery without a secret from another address of this machine. */
function hookStatusFrom(localAddress: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const options = { method: 'POST', localAddress, agent, headers };
    const request = httpRequest(`${house.url}/hooks/ci`, options, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on('error', reject);
    request.end('{}');
  });
}

test('the scripted provider is offered while there is no other', async () => {
  await mkdir(join(house.home, 'run'), { recursive: true });
  await writeFile(join(house.home, 'run', 'demo.json'), '{"url":"http://127.0.0.1:9/v1"}');
  const listed = async () => {
    const { providers } = await client.request<{ providers: { id: string; configured: boolean }[] }>('provider.list');
    const list = await client.request<{ models: { providerId: string; enabled: boolean }[] }>('model.list');
    return [
      providers.map(({ id, configured }) => `${id} ${configured}`),
      list.models.map((one) => `${one.providerId} ${one.enabled}`),
    ];
  };
  expect(await listed()).toEqual([['deepseek false', 'demo true'], ['demo true']]);
  await client.request('provider.configure', custom);
  expect(await listed()).toEqual([
    ['deepseek false', 'demo false', 'local true'],
    ['demo false', 'local true'],
  ]);
  const thread = await newThread(client);
  const asked = { ...thread, content: 'x', providerId: 'demo', modelId: 'demo-1' };
  await expect(client.request('turn.start', asked)).rejects.toMatchObject({ code: 'MODEL_NOT_CONFIGURED' });
  await rm(join(house.home, 'run', 'demo.json'));
  await client.request('provider.remove', { providerId: 'local' });
  expect(await listed()).toEqual([['deepseek false'], []]);
});

test('a provider is kept without its key, which goes to the vault and nowhere else', async () => {
  const params = { ...custom, apiKey: KEY, headers: { 'X-Team': 'header-secret-1' } };
  expect(await client.request('provider.configure', params)).toEqual({
    provider: {
      id: 'local',
      displayName: 'Local',
      origin: 'custom',
      configured: true,
      credentialConfigured: true,
      health: 'unknown',
    },
  });
  const bus = await connectBus({
    url: house.nats.url,
    user: 'gateway',
    seed: house.nats.seed('gateway'),
    name: 'look',
  });
  const config = new TextDecoder().decode((await (await openBucket(bus, 'config')).get('providers'))?.value);
  expect(JSON.parse(config).providers.local).toMatchObject({
    baseUrl: 'http://127.0.0.1:9/v1',
    apiKey: 'vault("provider.local","apiKey")',
    headers: { 'X-Team': 'vault("provider.local","header.x-team")' },
  });
  const vault = new TextDecoder().decode(
    (await (await openBucket(bus, 'vault_provider')).get('provider.local'))?.value,
  );
  const changed = await openJournal(bus).readLast(formatSubject({ kind: 'config' }));
  expect(changed?.commit.events).toEqual([
    {
      type: 'config.changed',
      payload: { section: 'providers', keys: ['providers.local'], revision: expect.any(Number) },
    },
  ]);
  for (const text of [config, vault, JSON.stringify(changed), house.log()]) {
    expect(text).not.toContain(KEY);
    expect(text).not.toContain('header-secret-1');
  }
  // Absent keeps it, empty removes it.
  const again = await client.request<{ provider: { credentialConfigured: boolean } }>('provider.configure', {
    ...custom,
  });
  expect(again.provider.credentialConfigured).toBe(true);
  const removed = await client.request<typeof again>('provider.configure', { ...custom, apiKey: '' });
  expect(removed.provider.credentialConfigured).toBe(false);
  await bus.close();
});

test('a key that was saved once is refused everywhere else, also after it is gone', async () => {
  const refused = { code: 'SECRET_REFUSED', rpcCode: -32600 };
  await expect(client.request('thread.create', { title: KEY })).rejects.toMatchObject(refused);
  await expect(client.request('thread.create', { title: `part ${KEY.slice(4, 14)}` })).rejects.toMatchObject(refused);
  const open = { ...custom, displayName: `x${KEY}`, apiKey: `${KEY}` };
  await expect(client.request('provider.configure', open)).rejects.toMatchObject(refused);
});

test('models are switched and limited, and what is not there is refused', async () => {
  const ids = { providerId: 'local', modelId: 'm-1' };
  expect(await client.request('model.set_enabled', { ...ids, enabled: false })).toMatchObject({
    model: { enabled: false },
  });
  const limits = { ...ids, contextWindow: 5000, reasoningEfforts: ['low', 'high'], reasoningEffort: 'high' };
  expect(await client.request('model.set_limits', limits)).toEqual({
    model: {
      providerId: 'local',
      id: 'm-1',
      displayName: 'One',
      enabled: false,
      contextWindow: 5000,
      reasoningEffort: 'high',
      reasoningEfforts: ['low', 'high'],
    },
  });
  await expect(client.request('model.set_limits', { ...limits, reasoningEffort: 'max' })).rejects.toMatchObject({
    code: 'INVALID_PARAMS',
  });
  await expect(client.request('model.set_enabled', { ...ids, modelId: 'm-2', enabled: true })).rejects.toMatchObject({
    code: 'MODEL_NOT_CONFIGURED',
  });
  await expect(client.request('model.set_enabled', { ...ids, providerId: 'p', enabled: true })).rejects.toMatchObject({
    code: 'PROVIDER_NOT_FOUND',
  });
  await expect(client.request('provider.configure', { ...custom, providerId: 'deepseek' })).rejects.toMatchObject({
    code: 'INVALID_PARAMS',
  });
  await expect(client.request('provider.configure', { ...custom, headers: { Host: 'x' } })).rejects.toMatchObject({
    code: 'INVALID_PARAMS',
  });
  await expect(
    client.request('provider.configure', { ...custom, models: [...models, ...models] }),
  ).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
});

test('models are discovered with a key that is kept nowhere, and a failure has its category', async () => {
  const { url } = await house.model();
  const found = await client.request('provider.discover_models', { kind: 'custom', baseUrl: url });
  expect(found).toMatchObject({ models: [{ id: MODEL }] });
  const refused = client.request('provider.discover_models', {
    kind: 'custom',
    baseUrl: 'http://127.0.0.1:9/v1',
    apiKey: 'sk-other-key-0001',
  });
  await expect(refused).rejects.toMatchObject({
    rpcCode: -32010,
    data: { code: 'PROVIDER_FAILED', details: { category: 'network' } },
  });
});

test('memories are made, read, listed and corrected through the memory service', async () => {
  const scope = { type: 'global', key: null };
  const params = { kind: 'preference', scope, content: 'Short answers', clientRequestId: 'm1' };
  const made = await client.request<{ memoryId: string }>('memory.create', params);
  expect(made).toMatchObject({ resultingRevision: 1, created: true });
  expect(await client.request('memory.create', params)).toMatchObject({
    memoryId: made.memoryId,
    resultingRevision: 1,
  });
  await client.request('memory.correct', {
    memoryId: made.memoryId,
    expectedRevision: 1,
    content: 'Long answers',
    clientRequestId: 'm2',
  });
  expect(await client.request('memory.get', { memoryId: made.memoryId })).toMatchObject({
    memory: { content: 'Long answers', revision: 2 },
  });
  expect(await client.request('memory.list', {})).toMatchObject({
    memories: [{ id: made.memoryId, preview: 'Long answers' }],
    hasMore: false,
  });
  await expect(client.request('memory.get', { memoryId: 'memory_none' })).rejects.toMatchObject({
    rpcCode: -32020,
    data: { reasonCode: 'memory_not_found' },
  });
});

test('a hook delivers once for each delivery id, and its answer goes out', async () => {
  await useModel(house, client);
  const answers: string[] = [];
  const receiver = createServer((request, response) => {
    request.on('data', (part: Buffer) => answers.push(part.toString()));
    request.on('end', () => response.end());
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const secret = 'hook-secret-0123456789';
  const channel = {
    kind: 'webhook',
    name: 'ci',
    secret,
    answerUrl: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/answer`,
    providerId: PROVIDER,
    modelId: MODEL,
  };
  expect(JSON.stringify(await client.request('channel.configure', channel))).not.toContain(secret);
  const deliver = (headers: Record<string, string>, body: unknown = { content: '#script {"text":"hook answered"}' }) =>
    house.http('/hooks/ci', { method: 'POST', headers, body });
  const good = { 'x-hook-secret': secret, 'x-delivery-id': 'd1' };
  await eventually('the hook', async () => (await deliver(good)).status === 202);
  const first = await deliver(good);
  expect(first.json()).toMatchObject({
    accepted: true,
    threadId: expect.any(String),
    turnId: expect.any(String),
    runId: expect.any(String),
  });
  expect((await deliver({ authorization: `Bearer ${secret}`, 'idempotency-key': 'd1' })).json()).toEqual(first.json());
  const codeOf = async (headers: Record<string, string>, body?: unknown) => {
    const answer = await deliver(headers, body);
    return [answer.status, (answer.json().error as { code: string }).code];
  };
  expect(await codeOf({ 'x-delivery-id': 'd1' })).toEqual([401, 'HOOK_REFUSED']);
  expect(await codeOf({ ...good, 'x-hook-secret': 'wrong' })).toEqual([401, 'HOOK_REFUSED']);
  expect(await codeOf({ 'x-hook-secret': secret })).toEqual([400, 'INVALID_PARAMS']);
  expect(await codeOf(good, { content: '' })).toEqual([400, 'INVALID_PARAMS']);
  expect(await codeOf(good, { content: 'x', more: 1 })).toEqual([400, 'INVALID_PARAMS']);
  const largest = await deliver({ ...good, 'x-delivery-id': 'd2' }, { content: '"'.repeat(256 * 1024) });
  expect(largest.status).toBe(202);
  const tooLong = { content: 'x'.repeat(256 * 1024 + 1) };
  expect(await codeOf({ ...good, 'x-delivery-id': 'd3' }, tooLong)).toEqual([413, 'CONTENT_TOO_LARGE']);
  expect(await codeOf(good, { content: 'x'.repeat(600 * 1024) })).toEqual([413, 'REQUEST_TOO_LARGE']);
  const few = new Agent({ keepAlive: true, maxSockets: 4 });
  const refused = await Promise.all(Array.from({ length: 601 }, () => hookStatusFrom('127.0.0.2', few)));
  few.destroy();
  expect(new Set(refused)).toEqual(new Set([401, 429]));
  expect((await deliver(good)).status).toBe(202);
  expect(await codeOf(good, { content: `the secret is ${secret}` })).toEqual([400, 'SECRET_REFUSED']);
  expect((await house.http('/hooks/none', { method: 'POST', headers: good, body: { content: 'x' } })).status).toBe(401);
  await eventually('the answer', () => answers.some((text) => text.includes('hook answered')), { timeoutMs: 20_000 });
  const { channels } = await client.request<{ channels: { name: string; bindings: unknown[] }[] }>('channel.list');
  expect(channels).toMatchObject([{ name: 'ci', secretConfigured: true, path: '/hooks/ci', openDeliveries: 0 }]);
  expect(channels[0]?.bindings).toHaveLength(1);
  receiver.close();
});

test('health, readiness, figures and status say how it is', async () => {
  expect((await house.http('/healthz')).json()).toEqual({ status: 'up' });
  expect(await eventually('ready', async () => (await house.http('/readyz')).json().ready)).toBe(true);
  const authorization = `Bearer ${await house.token()}`;
  const { text } = await house.http('/metrics', { headers: { authorization } });
  expect(text).toMatch(/^rookery_gateway_connections 1$/m);
  expect(text).toMatch(/^rookery_gateway_rpc_requests_total\{method="provider.list",code="ok"\} \d+$/m);
  expect(text).toMatch(/^rookery_read_model_lag 0$/m);
  const status = await client.request<{ services: { name: string; alive: boolean }[] }>('system.status');
  expect(status.services.map(({ name, alive }) => `${name} ${alive}`)).toEqual(
    ['gateway', 'agent', 'tool', 'memory', 'channels'].map((name) => `${name} true`),
  );
  expect(status).toMatchObject({
    readiness: { ready: true },
    readModel: { state: 'live', quarantined: 0 },
    supervisor: null,
  });
});

test('without a supervisor there is nothing to shut down', async () => {
  await expect(client.request('runtime.shutdown')).rejects.toMatchObject({ code: 'NOT_SUPERVISED' });
});

test('a restart of nats-server is not seen by clients but in readiness, and nothing is lost', async () => {
  await house.nats.kill();
  await eventually('not ready', async () => (await house.http('/readyz')).status === 503);
  expect((await house.http('/healthz')).status).toBe(200);
  // What is applied can be read while the journal is away.
  expect(await client.request('thread.list', {})).toMatchObject({ hasMore: false });
  const asked = newThread(client, { title: 'Across', clientRequestId: 'across' });
  await house.nats.restart();
  const { threadId } = await asked;
  const events = (): WireEvent[] => client.events.filter((event) => event.threadId === threadId);
  await eventually('its event', () => events().length > 0, { timeoutMs: 20_000 });
  expect(events()).toHaveLength(1);
  expect(await newThread(client, { title: 'Across', clientRequestId: 'across' })).toMatchObject({ threadId });
  await eventually('ready', async () => (await house.http('/readyz')).status === 200, { timeoutMs: 20_000 });
});
