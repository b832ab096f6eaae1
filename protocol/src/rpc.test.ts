import { describe, expect, it } from 'vitest';
import { newMethods, PROTOCOL_VERSIONS, type RpcMethod, rpcMethods, rpcParams, SERVER } from './rpc.ts';

const x = (length: number): string => 'x'.repeat(length);
const accepts = (method: RpcMethod, params: unknown): boolean => rpcParams[method].safeParse(params).success;

const model = { id: 'm', displayName: 'M', contextWindow: 32_768 };
const webhook = { kind: 'webhook', name: 'ci', secret: x(16), providerId: 'p', modelId: 'm' };
const custom = {
  kind: 'custom',
  providerId: 'p',
  displayName: 'P',
  baseUrl: 'https://example.test/v1',
  models: [model],
};
const memory = { kind: 'fact', scope: { type: 'global', key: null }, content: 'A fact', clientRequestId: 'c' };
const turn = { threadId: 't', branchId: 'b', content: 'Hello', providerId: 'p', modelId: 'm', clientRequestId: 'c' };
const steer = { runId: 'r', content: 'x', expectedRunId: 'r', clientRequestId: 'c' };

/** Parameters of each method that are taken. */
const taken: { [M in RpcMethod]: Record<string, unknown> } = {
  initialize: { protocolVersion: 13, client: { name: 'n', version: '1' } },
  'thread.create': { title: 'T', workspace: { rootUri: '/work' }, clientRequestId: 'c' },
  'thread.rename': { threadId: 't', title: null },
  'thread.archive': { threadId: 't' },
  'thread.unarchive': { threadId: 't' },
  'thread.get': { threadId: 't' },
  'thread.list': { cursor: 'c', limit: 1, archived: true },
  'turn.start': turn,
  'turn.list': { threadId: 't', branchId: 'b' },
  'run.cancel': { runId: 'r' },
  'run.steer': steer,
  'event.replay': { afterSeq: 0, limit: 1, filter: { threadIds: ['t'], types: ['item.delta'] } },
  'event.subscribe': { filter: null },
  'provider.list': {},
  'provider.configure': custom,
  'provider.discover_models': { kind: 'custom', baseUrl: 'https://example.test' },
  'provider.disconnect': { providerId: 'deepseek' },
  'provider.remove': { providerId: 'p' },
  'model.list': {},
  'model.set_enabled': { providerId: 'p', modelId: 'm', enabled: true },
  'model.set_limits': { providerId: 'p', modelId: 'm', contextWindow: 1 },
  'memory.create': memory,
  'memory.correct': { memoryId: 'm', expectedRevision: 1, content: 'x', clientRequestId: 'c' },
  'memory.list': {},
  'memory.get': { memoryId: 'm' },
  'process.read': { threadId: 't', processId: 'p' },
  'process.stop': { threadId: 't', processId: 'p' },
  'channel.list': {},
  'channel.configure': webhook,
  'runtime.shutdown': {},
  'auth.create_code': {},
  'token.rotate': {},
  'system.status': {},
};

/** Values on both sides of a limit: [method, key, what is taken, what is not]. */
const sides: [RpcMethod, string, unknown[], unknown[]][] = [
  ['initialize', 'protocolVersion', [12, 13, 99], ['13', 1.5, null]],
  ['thread.create', 'title', [null, '', x(200), `  ${x(200)}  `], [x(201), 7]],
  ['thread.create', 'clientRequestId', [x(1), x(200)], ['', x(201), null]],
  [
    'thread.create',
    'workspace',
    [null, { rootUri: x(4096) }, { rootUri: '/w', id: x(200), name: x(200), kind: 'project' }],
    [
      {},
      { rootUri: '' },
      { rootUri: x(4097) },
      { rootUri: '/w', name: x(201) },
      { rootUri: '/w', id: '' },
      { rootUri: '/w', kind: 'managed' },
      '/w',
    ],
  ],
  ['thread.rename', 'title', [null, x(200)], [x(201), undefined]],
  ['thread.get', 'threadId', [x(1), x(200)], ['', x(201), 1]],
  ['thread.list', 'limit', [1, 100], [0, 101, 1.5, '1']],
  ['thread.list', 'cursor', [null, x(2048)], [x(2049)]],
  ['turn.list', 'limit', [1, 100], [0, 101]],
  ['turn.list', 'cursor', [x(2048)], [x(2049)]],
  ['turn.start', 'content', ['', x(300_000)], [null, { text: 'x' }]],
  ['turn.start', 'modelId', [x(200)], ['', x(201)]],
  ['turn.start', 'clientRequestId', [undefined, x(200)], ['', x(201)]],
  ['run.steer', 'clientRequestId', [x(1), x(200)], ['', x(201), undefined]],
  ['event.replay', 'afterSeq', [0, Number.MAX_SAFE_INTEGER], [-1, 0.5, Number.MAX_SAFE_INTEGER + 1]],
  ['event.replay', 'limit', [1, 1000], [0, 1001]],
  [
    'event.replay',
    'filter',
    [null, {}, { threadIds: Array(100).fill('t') }, { types: Array(50).fill('item.delta') }],
    [
      { threadIds: [] },
      { threadIds: Array(101).fill('t') },
      { types: [] },
      { types: Array(51).fill('a') },
      { types: [x(101)] },
      { more: 1 },
    ],
  ],
  ['event.subscribe', 'filter', [null, { threadIds: ['t'] }], [undefined, 't']],
  ['provider.configure', 'providerId', ['p', ' P ', `a${x(63)}`], ['', '-p', `a${x(64)}`, 'a b']],
  ['provider.configure', 'displayName', [x(200)], ['', x(201), 'a\nb', 'a\u0000', 'a\u001b[0m']],
  ['provider.configure', 'apiKey', [undefined, '', x(8192)], [x(8193), ' key', 'key\n', 'a\u0000b']],
  [
    'provider.configure',
    'headers',
    [{}, { [x(200)]: x(8192) }, { "X-!#$%&'*+.^_`|~": '' }],
    [{ '': 'v' }, { [x(201)]: 'v' }, { 'a b': 'v' }, { 'a:': 'v' }, { a: x(8193) }, { a: 'b\r\nc' }],
  ],
  [
    'provider.configure',
    'models',
    [[model], Array(1000).fill(model), [{ id: x(200) }]],
    [
      [],
      Array(1001).fill(model),
      [{ id: '' }],
      [{ id: x(201) }],
      [{ id: 'm', contextWindow: 0 }],
      [{ id: 'm\n' }],
      [{ id: 'm', displayName: 'a\u0007' }],
      [{ id: 'm', more: 1 }],
    ],
  ],
  ['provider.configure', 'kind', ['custom'], ['anthropic', undefined]],
  ['model.set_limits', 'contextWindow', [1, Number.MAX_SAFE_INTEGER], [0, 1.5, Number.MAX_SAFE_INTEGER + 1]],
  ['model.set_limits', 'reasoningEffort', [null, undefined, 'none', 'ultra'], ['extreme', 1]],
  ['model.set_enabled', 'enabled', [true, false], ['true', 1, null]],
  ['memory.create', 'content', [x(2048), 'a\tb\nc\rd'], ['', ' \n', x(2049), 'a\u0000', 'a\u001b[0m', 'a\u007f']],
  ['memory.create', 'kind', ['fact', 'preference', 'relationship', 'project'], ['rule', null]],
  [
    'memory.create',
    'scope',
    [
      { type: 'workspace', key: x(200) },
      { type: 'workspace', key: ` ${x(200)} ` },
    ],
    [
      { type: 'workspace', key: '' },
      { type: 'workspace', key: '  ' },
      { type: 'workspace', key: x(201) },
      { type: 'workspace', key: null },
      { type: 'global', key: 'k' },
      { type: 'global' },
      { type: 'galaxy', key: null },
    ],
  ],
  [
    'memory.create',
    'source',
    [undefined, { type: 'session_item', itemId: 'i' }],
    [null, { type: 'file', itemId: 'i' }, { type: 'session_item' }],
  ],
  ['memory.correct', 'expectedRevision', [1, 2], [0, -1, 1.5, '1']],
  ['memory.list', 'cursor', [x(1024)], [x(1025)]],
  ['memory.list', 'limit', [1, 100], [0, 101]],
  ['memory.list', 'state', ['active', 'forgotten'], ['deleted']],
  ['process.read', 'cursor', [0, 1], [-1, 0.5]],
  ['channel.configure', 'name', ['ci', `a${x(63)}`], ['', 'CI', 'a.b', `a${x(64)}`]],
  ['channel.configure', 'secret', [undefined, x(16), x(8192)], [x(15), x(8193)]],
  ['channel.configure', 'answerUrl', [null, undefined, 'https://example.test/answers'], ['', 'ftp://example.test']],
  ['channel.configure', 'kind', ['webhook'], ['telegram']],
];

describe('parameters', () => {
  it.each(Object.entries(taken) as [RpcMethod, Record<string, unknown>][])('of %s are exact', (method, params) => {
    expect(rpcParams[method].safeParse(params)).toMatchObject({ success: true });
    expect(accepts(method, { ...params, more: 1 })).toBe(false);
    for (const other of [null, undefined, [], 'text', 1]) expect(accepts(method, other)).toBe(false);
  });

  it.each(sides)('of %s hold to the limit of %s', (method, key, inside, outside) => {
    for (const value of inside)
      expect([value, accepts(method, { ...taken[method], [key]: value })]).toEqual([value, true]);
    for (const value of outside)
      expect([value, accepts(method, { ...taken[method], [key]: value })]).toEqual([value, false]);
  });

  it('have the defaults of the document', () => {
    expect(rpcParams['thread.create'].parse({})).toEqual({ title: null });
    expect(rpcParams['thread.list'].parse({})).toEqual({ limit: 50, archived: false });
    expect(rpcParams['turn.list'].parse({ threadId: 't', branchId: 'b' })).toMatchObject({ limit: 50 });
    expect(rpcParams['event.replay'].parse({})).toEqual({ afterSeq: 0, limit: 500 });
    expect(rpcParams['memory.list'].parse({})).toEqual({ limit: 50, state: 'active' });
    expect(rpcParams['process.read'].parse(taken['process.read'])).toMatchObject({ cursor: 0 });
    expect(rpcParams['channel.configure'].parse(webhook)).toMatchObject({ enabled: true });
  });

  it('are cleaned as the document says', () => {
    expect(rpcParams['thread.create'].parse({ title: '  A title ' }).title).toBe('A title');
    expect(rpcParams['thread.rename'].parse({ threadId: 't', title: ' \n ' }).title).toBeNull();
    expect(
      rpcParams['provider.configure'].parse({
        ...custom,
        providerId: ' MyProvider ',
        baseUrl: 'https://example.test/v1/',
      }),
    ).toMatchObject({
      providerId: 'myprovider',
      baseUrl: 'https://example.test/v1',
    });
    expect(rpcParams['memory.create'].parse({ ...memory, scope: { type: 'workspace', key: ' k ' } }).scope.key).toBe(
      'k',
    );
  });

  it('of DeepSeek need a key and no address', () => {
    const deepseek = { kind: 'deepseek', apiKey: 'k', models: [model] };
    expect(accepts('provider.configure', deepseek)).toBe(true);
    expect(accepts('provider.configure', { ...deepseek, apiKey: '' })).toBe(false);
    expect(accepts('provider.configure', { ...deepseek, baseUrl: 'https://example.test' })).toBe(false);
    expect(accepts('provider.discover_models', { kind: 'deepseek', apiKey: 'k' })).toBe(true);
    expect(accepts('provider.discover_models', { kind: 'deepseek', apiKey: '' })).toBe(false);
  });
});

describe('methods', () => {
  it('are those of this version', () => {
    expect(rpcMethods).toEqual(Object.keys(taken).filter((method) => method !== 'initialize'));
    expect(PROTOCOL_VERSIONS).toEqual([12, 13]);
    expect(SERVER).toEqual({ name: 'rookery', version: '0.1.0' });
  });

  it('of version 13 are among them', () => {
    expect(newMethods).toEqual(['event.subscribe', 'auth.create_code', 'token.rotate', 'system.status']);
    for (const method of newMethods) expect(rpcMethods).toContain(method);
  });
});
