import { expect, it } from 'vitest';
import {
  type AccessFacts,
  decideAccess,
  type RouteAccess,
  sessionCookies,
  sessionKeyOf,
  type Verifier,
} from './access.ts';
import { hostOf, readEdgeSettings } from './address.ts';
import { FailureLimiter } from './failure-limiter.ts';

const principal = { kind: 'owner' as const, id: 'o', ownerHash: 'o', expiresAt: null };
const verifier: Verifier = {
  verifyBearer: (token) => (token === 'good' ? principal : null),
  verifySession: (cookies, key) => (cookies.includes('cookie') && key === 'key' ? principal : null),
};
const host = '127.0.0.1:7420';
const own = `http://${host}`;
const rules = readEdgeSettings({});
const none: AccessFacts = {
  host,
  origin: undefined,
  authorization: undefined,
  cookie: undefined,
  keyHeader: undefined,
  protocols: undefined,
  query: '',
};
const page = { cookie: 'rookery_session=cookie', keyHeader: 'key', origin: own };

const status = (access: RouteAccess, facts: Partial<AccessFacts>, with_: Verifier | null = verifier): number => {
  const decision = decideAccess(access, { ...none, ...facts }, rules, with_);
  return decision.ok ? 200 : decision.status;
};

it.each<[string, RouteAccess, Partial<AccessFacts>, number]>([
  ['no credential', 'page', {}, 401],
  ['program with token', 'page', { authorization: 'Bearer good' }, 200],
  ['program with token, own origin', 'page', { authorization: 'Bearer good', origin: own }, 200],
  ['wrong token', 'page', { authorization: 'Bearer bad' }, 401],
  ['wrong token beside a good session', 'page', { ...page, authorization: 'Bearer bad' }, 401],
  ['other scheme', 'page', { authorization: 'Basic good' }, 401],
  ['foreign origin with token', 'page', { authorization: 'Bearer good', origin: 'http://evil.example' }, 403],
  ['null origin with token', 'page', { authorization: 'Bearer good', origin: 'null' }, 403],
  ['another port of the host', 'page', { authorization: 'Bearer good', origin: 'http://127.0.0.1:7421' }, 403],
  ['https without a proxy', 'page', { authorization: 'Bearer good', origin: `https://${host}` }, 403],
  ['page', 'page', page, 200],
  ['page over a socket', 'page', { ...page, keyHeader: undefined, protocols: 'rookery.v1, rookery.key.key' }, 200],
  ['cookie without origin', 'page', { ...page, origin: undefined }, 403],
  ['cookie without key', 'page', { ...page, keyHeader: undefined }, 401],
  ['key without cookie', 'page', { ...page, cookie: undefined }, 401],
  ['session on a route for programs', 'program', page, 401],
  ['token on a route for programs', 'program', { authorization: 'Bearer good' }, 200],
  ['public', 'public', {}, 200],
  ['public with foreign origin', 'public', { origin: 'http://evil.example' }, 403],
  ['hook', 'hook', { authorization: 'Bearer of-the-hook' }, 200],
  ['unknown host', 'public', { host: 'evil.example' }, 421],
  ['no host', 'public', { host: undefined }, 421],
  ['host with user info', 'public', { host: 'localhost@evil.example' }, 421],
  ['token in the query', 'public', { query: 'token=x' }, 401],
  ['the token under any name', 'public', { query: 'x=good' }, 401],
  ['a harmless query', 'public', { query: 'v=1' }, 200],
])('%s (%s)', (_name, access, facts, expected) => {
  expect(status(access, facts)).toBe(expected);
});

it('lets only what is public pass while the gateway is starting', () => {
  expect(status('public', {}, null)).toBe(200);
  expect(status('page', { authorization: 'Bearer good' }, null)).toBe(503);
});

it('reads hosts, cookies and keys as browsers write them', () => {
  expect(hostOf('LOCALHOST:80')).toBe('localhost');
  expect(hostOf('[::1]:7420')).toBe('[::1]');
  expect(hostOf('a b')).toBeNull();
  expect(sessionCookies('a=1; rookery_session=x; rookery_session=y; rookery_session_old=z')).toEqual(['x', 'y']);
  expect(sessionKeyOf({ keyHeader: undefined, protocols: undefined })).toBeNull();
});

it('refuses to listen beyond loopback in clear, and says why', () => {
  expect(() => readEdgeSettings({ ROOKERY_HTTP: '0.0.0.0:7420' })).toThrow(
    expect.objectContaining({ code: 'CONFIG_INVALID' }),
  );
  expect(() => readEdgeSettings({ ROOKERY_HTTP: '192.168.1.5:7420' })).toThrow(
    /tokens would cross the network in clear/,
  );
  expect(readEdgeSettings({ ROOKERY_HTTP: '0.0.0.0:7420', ROOKERY_TRUSTED_PROXY: '1' }).address.port).toBe(7420);
  expect(readEdgeSettings({ ROOKERY_HTTP: '[::1]:0' }).address).toEqual({ host: '::1', port: 0 });
  for (const env of [
    { ROOKERY_HTTP: '7420' },
    { ROOKERY_HTTP: '127.0.0.1:70000' },
    { ROOKERY_TRUSTED_PROXY: 'yes' },
    { ROOKERY_PUBLIC_HOSTS: 'a b' },
  ]) {
    expect(() => readEdgeSettings(env)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
  }
  expect(readEdgeSettings({ ROOKERY_PUBLIC_HOSTS: 'rookery.example:443, other' }).hosts).toContain('rookery.example');
});

it('counts refusals of an address and begins anew after the window', () => {
  const limiter = new FailureLimiter({ max: 2, windowMs: 100 });
  expect([0, 1, 2].map((now) => limiter.note('a', now))).toEqual([false, false, true]);
  expect(limiter.note('b', 3)).toBe(false);
  expect(limiter.note('a', 200)).toBe(false);
});
