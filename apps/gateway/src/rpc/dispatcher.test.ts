import { AppError, newMethods, type RpcMethod, rpcMethods } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { SeenSeq } from './call.ts';
import { createDispatcher, type Handlers } from './dispatcher.ts';
import { readRequest } from './envelope.ts';
import { chooseProtocol, initializeResult } from './initialize.ts';
import { errorText, RawJson, resultText, rpcErrorBody } from './response.ts';

const call = (protocol: number) => ({
  protocol,
  principal: { kind: 'owner' as const, id: 'o', ownerHash: 'o', expiresAt: null },
  seen: new SeenSeq(),
  announce: () => undefined,
  subscription: null,
});

function serve(overrides: Partial<Handlers> = {}, isProtected: (value: unknown) => boolean = () => false) {
  const handlers = Object.fromEntries(rpcMethods.map((method) => [method, async () => `did ${method}`]));
  const dispatch = createDispatcher({
    handlers: { ...handlers, ...overrides } as Handlers,
    isProtected,
    onDone: () => undefined,
  });
  return async (method: string, params: Record<string, unknown> = {}, protocol = 13): Promise<string> => {
    const outcome = await dispatch({ id: 1, method, params }, call(protocol));
    return outcome.ok ? String(outcome.result) : outcome.error.code;
  };
}

it('has a handler for every method of the protocol, and protocol 12 has none of the newer ones', async () => {
  const ask = serve();
  expect(await ask('provider.list')).toBe('did provider.list');
  for (const method of newMethods) expect(await ask(method, {}, 12)).toBe('METHOD_NOT_FOUND');
  expect(await ask('system.status', {}, 13)).toBe('did system.status');
  expect(await ask('initialize')).toBe('METHOD_NOT_FOUND');
  expect(await ask('constructor')).toBe('METHOD_NOT_FOUND');
});

it('refuses parameters that are unknown, missing or newer than the protocol', async () => {
  const ask = serve();
  expect(await ask('thread.get', {})).toBe('INVALID_PARAMS');
  expect(await ask('thread.get', { threadId: 't', extra: 1 })).toBe('INVALID_PARAMS');
  expect(await ask('event.replay', { filter: null }, 12)).toBe('INVALID_PARAMS');
  expect(await ask('event.replay', { filter: null }, 13)).toBe('did event.replay');
});

it('refuses protected values everywhere but where keys are given', async () => {
  const ask = serve({}, (value) => JSON.stringify(value).includes('sk-protected'));
  expect(await ask('thread.create', { title: 'sk-protected' })).toBe('SECRET_REFUSED');
  const models = [{ id: 'm' }];
  expect(await ask('provider.configure', { kind: 'deepseek', apiKey: 'sk-protected', models })).toBe(
    'did provider.configure',
  );
  const named = { kind: 'custom', providerId: 'p', displayName: 'sk-protected', baseUrl: 'http://x.test', models };
  expect(await ask('provider.configure', named)).toBe('SECRET_REFUSED');
});

it('shows nothing of what went wrong inside', async () => {
  const ask = serve({
    'provider.list': async () => {
      throw new Error('password is hunter2');
    },
  });
  expect(await ask('provider.list')).toBe('INTERNAL');
  const text = errorText(
    1,
    new AppError('INTERNAL', { message: 'hunter2', details: { at: '/home/x' }, cause: new Error('hunter2') }),
  );
  expect(text).not.toContain('hunter2');
  expect(text).not.toContain('/home/x');
  expect(JSON.parse(text).error).toMatchObject({ code: -32603, data: { code: 'INTERNAL', retry: 'after-check' } });
});

it('gives the document its own codes, sentences and reasons', () => {
  expect(rpcErrorBody(new AppError('MEMORY_NOT_FOUND'))).toEqual({
    code: -32020,
    message: 'memory operation failed',
    data: { code: 'MEMORY_NOT_FOUND', retry: 'never', reasonCode: 'memory_not_found' },
  });
  expect(rpcErrorBody(new AppError('THREAD_BUSY')).data).toMatchObject({
    code: 'THREAD_BUSY',
    reasonCode: 'thread_busy',
    retry: 'safe',
  });
});

it.each<[unknown, string | null]>([
  [{ jsonrpc: '2.0', id: 1, method: 'a' }, null],
  [{ jsonrpc: '2.0', id: 'x', method: 'a', params: {} }, null],
  [[{ jsonrpc: '2.0', id: 1, method: 'a' }], 'batch_not_supported'],
  [{ jsonrpc: '2.0', method: 'a' }, 'id_required'],
  [{ jsonrpc: '2.0', id: null, method: 'a' }, 'id_required'],
  [{ jsonrpc: '2.0', id: 1.5, method: 'a' }, 'id_required'],
  [{ jsonrpc: '1.0', id: 1, method: 'a' }, 'jsonrpc_version'],
  [{ jsonrpc: '2.0', id: 1, method: '' }, 'method_required'],
  [{ jsonrpc: '2.0', id: 1, method: 'a', token: 'x' }, 'unknown_key'],
  [{ jsonrpc: '2.0', id: 1, method: 'a', params: [] }, 'params_must_be_an_object'],
  ['text', 'not_an_object'],
])('reads an envelope: %j', (value, reason) => {
  const read = readRequest(value);
  expect(read.ok ? null : read.error.details.reason).toBe(reason);
});

it('settles the protocol once', () => {
  expect(chooseProtocol({ protocolVersion: 12 })).toBe(12);
  expect(() => chooseProtocol({ protocolVersion: 11 })).toThrow(
    expect.objectContaining({ code: 'PROTOCOL_UNSUPPORTED' }),
  );
  expect(() => chooseProtocol({})).toThrow(expect.objectContaining({ code: 'INVALID_PARAMS' }));
  expect(Object.keys(initializeResult(12, 'j'))).toEqual(['protocolVersion', 'server']);
  expect(initializeResult(13, 'j')).toMatchObject({ journalId: 'j' });
});

it('writes results whole, raw ones as they are', () => {
  expect(JSON.parse(resultText('a', undefined))).toEqual({ jsonrpc: '2.0', id: 'a', result: null });
  expect(resultText(1, new RawJson('{"b":1}'))).toBe('{"jsonrpc":"2.0","id":1,"result":{"b":1}}');
});

it('names every method of the protocol exactly once', () => {
  expect(new Set<RpcMethod>(rpcMethods).size).toBe(rpcMethods.length);
});
