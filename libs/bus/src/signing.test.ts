import { nkeys } from '@nats-io/transport-node';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { publicKeyOf, signAuthorization, verifyAuthorization } from './signing.ts';

const newSeed = (): string => new TextDecoder().decode(nkeys.createUser().getSeed());
const seed = newSeed();
const key = publicKeyOf(seed);
const claim = { threadId: 'thread_1', clientRequestId: 'r1', profileId: 'read-only' };
const signed = signAuthorization(seed, claim);

describe('a signature of an edge', () => {
  it('is taken from that edge', () => {
    expect(signed).toEqual({ ...claim, key, signature: expect.any(String) });
    expect(verifyAuthorization(signed, ['another', key])).toBe(true);
  });

  it('is refused from an edge that is not known, also with a key that is', () => {
    const other = newSeed();
    expect(verifyAuthorization(signed, [])).toBe(false);
    expect(verifyAuthorization(signed, [publicKeyOf(other)])).toBe(false);
    expect(verifyAuthorization({ ...signAuthorization(other, claim), key }, [key])).toBe(false);
  });

  it.each(['threadId', 'clientRequestId', 'profileId'] as const)('does not hold for another %s', (field) => {
    expect(verifyAuthorization({ ...signed, [field]: 'danger-full-access' }, [key])).toBe(false);
  });

  it('holds for exactly what was signed, whatever it is', () => {
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(text, text, text, text, (threadId, clientRequestId, profileId, other) => {
        const authorization = signAuthorization(seed, { threadId, clientRequestId, profileId });
        expect(verifyAuthorization(authorization, [key])).toBe(true);
        expect(verifyAuthorization({ ...authorization, profileId: other }, [key])).toBe(other === profileId);
      }),
    );
  });

  it('is that of the NATS library, in both directions', () => {
    const pair = nkeys.fromSeed(new TextEncoder().encode(seed));
    const bytes = new TextEncoder().encode('{"clientRequestId":"r1","profileId":"read-only","threadId":"thread_1"}');
    expect(key).toBe(pair.getPublicKey());
    expect(nkeys.fromPublic(key).verify(bytes, Buffer.from(signed.signature, 'base64'))).toBe(true);
    const theirs = Buffer.from(pair.sign(bytes)).toString('base64');
    expect(verifyAuthorization({ ...signed, signature: theirs }, [key])).toBe(true);
  });

  it('does not move between fields', () => {
    const moved = signAuthorization(seed, { ...claim, threadId: 'thread_1r', clientRequestId: '1' });
    expect(verifyAuthorization({ ...moved, ...claim }, [key])).toBe(false);
  });

  it.each(['', 'not base64 §', 'AAAA', 'A'.repeat(86)])('is refused where it is %j', (signature) => {
    expect(verifyAuthorization({ ...signed, signature }, [key])).toBe(false);
  });

  it('is refused where the known key is none', () => {
    expect(verifyAuthorization({ ...signed, key: 'not a key' }, ['not a key'])).toBe(false);
  });
});
