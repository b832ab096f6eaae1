import { type Authorization, canonicalJson } from '@rookery/protocol';
import { nkeys } from '@nats-io/transport-node';

type Claim = Pick<Authorization, 'threadId' | 'clientRequestId' | 'profileId'>;

const message = ({ threadId, clientRequestId, profileId }: Claim): Uint8Array =>
  new TextEncoder().encode(canonicalJson({ threadId, clientRequestId, profileId }));

/** Signs a person's choice of permission profile with the edge's nkey seed. */
export function signAuthorization(seed: string, claim: Claim): Authorization {
  const pair = nkeys.fromSeed(new TextEncoder().encode(seed));
  const signature = Buffer.from(pair.sign(message(claim))).toString('base64');
  const { threadId, clientRequestId, profileId } = claim;
  return { threadId, clientRequestId, profileId, key: pair.getPublicKey(), signature };
}

/** True where the signature is of that claim by one of the known edges. */
export function verifyAuthorization(authorization: Authorization, edgeKeys: readonly string[]): boolean {
  if (!edgeKeys.includes(authorization.key)) return false;
  try {
    const pair = nkeys.fromPublic(authorization.key);
    return pair.verify(message(authorization), new Uint8Array(Buffer.from(authorization.signature, 'base64')));
  } catch {
    return false;
  }
}

/** Public key of an nkey seed. */
export function publicKeyOf(seed: string): string {
  return nkeys.fromSeed(new TextEncoder().encode(seed)).getPublicKey();
}
