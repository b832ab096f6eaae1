import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { startUpstream, type Upstream } from '../test/upstream.ts';
import { closeConnections, discoverModels, ProviderError } from './index.ts';

const open: Upstream[] = [];
async function models(status: number, body: string): Promise<Upstream> {
  const server = await startUpstream((response) => {
    response.statusCode = status;
    response.end(body);
  });
  open.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.stop()));
});
afterAll(closeConnections);

describe('discoverModels', () => {
  it('lists models with the windows that are known', async () => {
    const data = [
      { id: 'deepseek-v4-flash', object: 'model' },
      { id: 'deepseek-v4-pro' },
      { id: 'deepseek-v4-flash-vision-exp' },
      { id: 'other', name: 'Other' },
      { id: 'long', context_length: 200_000 },
      { id: 'other', name: 'again' },
      { id: '' },
      { id: 'line\nbreak' },
      { id: 'x'.repeat(201) },
      'no model',
      { id: 'odd', context_length: -1 },
    ];
    const server = await models(200, JSON.stringify({ data }));
    const endpoint = { baseUrl: server.baseUrl, apiKey: 'k', headers: { 'x-a': 'b' } };
    expect(await discoverModels(endpoint)).toEqual([
      { id: 'deepseek-v4-flash', displayName: 'deepseek-v4-flash', contextWindow: 1_000_000 },
      { id: 'deepseek-v4-pro', displayName: 'deepseek-v4-pro', contextWindow: 1_000_000 },
      { id: 'deepseek-v4-flash-vision-exp', displayName: 'deepseek-v4-flash-vision-exp', contextWindow: 1_000_000 },
      { id: 'other', displayName: 'Other', contextWindow: 32_768 },
      { id: 'long', displayName: 'long', contextWindow: 200_000 },
      { id: 'odd', displayName: 'odd', contextWindow: 32_768 },
    ]);
    expect(server.asked[0]).toMatchObject({
      method: 'GET',
      path: '/v1/models',
      headers: { authorization: 'Bearer k', 'x-a': 'b' },
    });
  });

  it('takes at most 1,000 models', async () => {
    const data = Array.from({ length: 1200 }, (_, n) => ({ id: `m${n}` }));
    const server = await models(200, JSON.stringify({ data }));
    const found = await discoverModels({ baseUrl: server.baseUrl });
    expect(found).toHaveLength(1000);
    expect(found.at(-1)?.id).toBe('m999');
  });

  it.each<[string, number, string, string]>([
    ['a refused key', 401, '', 'authentication'],
    ['a server error', 500, '', 'server'],
    ['a page', 200, '<html>', 'protocol'],
    ['another shape', 200, '{"data":{}}', 'protocol'],
    ['more than 1 MB', 200, `{"data":[],"x":"${'x'.repeat(1_000_000)}"}`, 'protocol'],
  ])('%s is a failure, asked once', async (_, status, body, category) => {
    const server = await models(status, body);
    const error = await discoverModels({ baseUrl: server.baseUrl }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({ category, code: 'PROVIDER_FAILED' });
    expect(server.asked).toHaveLength(1);
  });
});
