import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  baseUrlSchema,
  type ConfigSection,
  configDefaults,
  configSections,
  providerIdSchema,
  webhookNameSchema,
} from './config-sections.ts';

const model = { displayName: 'M', enabled: true, supportsTools: true, contextWindow: 1 };
const provider = {
  displayName: 'P',
  origin: 'custom',
  baseUrl: 'https://example.test/v1',
  apiKey: null,
  models: { m: model },
};
const webhook = {
  kind: 'webhook',
  enabled: true,
  secret: 'vault("ci","secret")',
  answerUrl: null,
  providerId: 'p',
  modelId: 'm',
};
const accepts = (section: ConfigSection, value: unknown): boolean => configSections[section].safeParse(value).success;
const providers = (change: object, id = 'p'): unknown => ({ providers: { [id]: { ...provider, ...change } } });
const models = (change: object, id = 'm'): unknown => providers({ models: { [id]: { ...model, ...change } } });
const channels = (change: object, name = 'ci'): unknown => ({ channels: { [name]: { ...webhook, ...change } } });

describe('sections of the configuration', () => {
  it.each(Object.keys(configSections) as ConfigSection[])('%s takes its default and no unknown key', (section) => {
    expect(configSections[section].parse(configDefaults[section])).toEqual(configDefaults[section]);
    expect(accepts(section, { ...configDefaults[section], more: 1 })).toBe(false);
    expect(accepts(section, null)).toBe(false);
  });

  it('fill in what a model or provider leaves out', () => {
    expect(configSections.providers.parse(providers({}))).toMatchObject({
      providers: { p: { headers: {}, models: { m: { reasoningEfforts: [], reasoningEffort: null } } } },
    });
  });

  it('take a provider with its limits', () => {
    expect(accepts('providers', providers({}))).toBe(true);
    expect(accepts('providers', providers({ more: 1 }))).toBe(false);
    expect(accepts('providers', providers({ origin: 'other' }))).toBe(false);
    expect(accepts('providers', providers({ displayName: 'x'.repeat(200) }))).toBe(true);
    for (const displayName of ['', 'x'.repeat(201), 'a\nb', 'a\u0000'])
      expect(accepts('providers', providers({ displayName }))).toBe(false);
  });

  it('take a model with its limits', () => {
    expect(accepts('providers', models({ contextWindow: Number.MAX_SAFE_INTEGER }))).toBe(true);
    for (const contextWindow of [0, -1, 1.5, Number.MAX_SAFE_INTEGER + 1, '1'])
      expect(accepts('providers', models({ contextWindow }))).toBe(false);
    expect(accepts('providers', models({ reasoningEfforts: ['none', 'ultra'], reasoningEffort: 'xhigh' }))).toBe(true);
    expect(accepts('providers', models({ reasoningEffort: 'extreme' }))).toBe(false);
    expect(accepts('providers', models({}, 'x'.repeat(200)))).toBe(true);
    for (const id of ['', 'x'.repeat(201), 'a\nb']) expect(accepts('providers', models({}, id))).toBe(false);
  });

  it('take a webhook with its limits', () => {
    expect(accepts('channels', channels({}))).toBe(true);
    expect(accepts('channels', channels({ answerUrl: 'https://example.test/answer' }))).toBe(true);
    expect(accepts('channels', channels({ answerUrl: 'ftp://example.test' }))).toBe(false);
    expect(accepts('channels', channels({ kind: 'telegram' }))).toBe(false);
    expect(accepts('channels', channels({}, 'Upper'))).toBe(false);
  });

  it('take the agent and world of an edge', () => {
    const edge = { agentId: 'main', world: 'home', publicKey: 'U1' };
    expect(accepts('edges', { homeId: 'h', edges: { gateway: edge } })).toBe(true);
    expect(accepts('edges', { homeId: 'h', edges: { gateway: { ...edge, world: '' } } })).toBe(false);
  });
});

describe('ids', () => {
  it.each(['a', 'deepseek', '0', 'a.b_c-d', `a${'x'.repeat(63)}`])('of a provider may be %s', (id) => {
    expect(providerIdSchema.safeParse(id).success).toBe(true);
  });
  it.each(['', 'A', '-a', '.a', 'a b', 'ü', 'a\n', `a${'x'.repeat(64)}`])('of a provider may not be %j', (id) => {
    expect(providerIdSchema.safeParse(id).success).toBe(false);
  });
  it('of a webhook have neither dots nor underscores', () => {
    expect(['ci', 'a-1'].every((name) => webhookNameSchema.safeParse(name).success)).toBe(true);
    expect(
      ['a.b', 'a_b', 'A', '', '-a', 'a/b', 'x'.repeat(65)].some((name) => webhookNameSchema.safeParse(name).success),
    ).toBe(false);
  });
});

describe('a base URL', () => {
  it('loses its last slashes', () => {
    expect(baseUrlSchema.parse('https://example.test/v1//')).toBe('https://example.test/v1');
    expect(baseUrlSchema.parse('http://127.0.0.1:8080')).toBe('http://127.0.0.1:8080');
  });

  it.each([
    '',
    'example.test',
    'ftp://example.test',
    'file:///etc/passwd',
    'javascript:1',
    'https://',
    'https://me@example.test',
    'https://a:b@example.test',
    'https://example.test/?a=1',
    'https://example.test/#a',
    'https://example.test/v1?',
    'https://example.test/v1#',
    ' https://example.test',
    'https://exam\tple.test',
    'https:\\\\example.test',
  ])('may not be %j', (url) => {
    expect(baseUrlSchema.safeParse(url).success).toBe(false);
  });

  it('has at most 2,048 characters', () => {
    const of = (chars: number) => `https://example.test/${'x'.repeat(chars - 21)}`;
    expect(of(2048)).toHaveLength(2048);
    expect(baseUrlSchema.safeParse(of(2048)).success).toBe(true);
    expect(baseUrlSchema.safeParse(of(2049)).success).toBe(false);
  });

  it('is never refused by a throw, and what is taken is a URL', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.webUrl({ withQueryParameters: true, withFragments: true })), (text) => {
        const parsed = baseUrlSchema.safeParse(text);
        if (!parsed.success) return;
        const url = new URL(parsed.data);
        expect([url.search, url.hash, url.username, url.password]).toEqual(['', '', '', '']);
        expect(baseUrlSchema.parse(parsed.data)).toBe(parsed.data);
      }),
    );
  });
});
