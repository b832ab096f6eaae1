import { publicKeyOf, signAuthorization } from '@rookery/bus';
import { expect, it } from 'vitest';
import { allows, profileOf } from './permission-profile.ts';

// A published example; it opens nothing.
const SEED = 'SUAEL6RU3BSDAFKOHNTEOK5Q6FTM5FTAMWVIKBET6FHPO4JRII3CYELVNM';
const edges = { homeId: null, edges: { web: { agentId: 'main', world: 'home', publicKey: publicKeyOf(SEED) } } };
const permissions = { defaultProfile: 'default' };
const request = { world: 'home', agentId: 'main', threadId: 'thread_1', clientRequestId: 'request_1' };
const claim = { threadId: 'thread_1', clientRequestId: 'request_1', profileId: 'signed' };
const signed = signAuthorization(SEED, claim);

it('takes the profile that an edge of this agent has signed for this request', () => {
  expect(profileOf(request, signed, edges, permissions)).toBe('signed');
});

it('takes the default for anything else', () => {
  const others = [
    profileOf(request, undefined, edges, permissions),
    profileOf(request, { ...signed, profileId: 'other' }, edges, permissions),
    profileOf({ ...request, threadId: 'thread_2' }, signed, edges, permissions),
    profileOf({ ...request, clientRequestId: 'request_2' }, signed, edges, permissions),
    profileOf({ ...request, agentId: 'other' }, signed, edges, permissions),
    profileOf({ ...request, world: 'other' }, signed, edges, permissions),
    profileOf(request, signed, { homeId: null, edges: {} }, permissions),
    profileOf(request, { ...signed, signature: 'AAAA' }, edges, permissions),
  ];
  expect(others).toEqual(others.map(() => 'default'));
});

it('refuses a profile that it cannot enforce', () => {
  expect(allows('danger-full-access')).toBe(true);
  expect(allows('read-only')).toBe(false);
});
