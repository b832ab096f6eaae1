import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { nkeys } from '@nats-io/transport-node';
import { type Authorization, canonicalJson } from '@rookery/protocol';

/**
 * Signatures by nkeys, which are Ed25519. Node's own implementation makes them: that of the NATS library is plain
 * JavaScript and takes several milliseconds, as much as everything else of a submission together.
 */

type Claim = Pick<Authorization, 'threadId' | 'clientRequestId' | 'profileId'>;

interface Signer {
  publicKey: string;
  key: KeyObject;
}

/** ASN.1 in front of the 32 bytes of an Ed25519 key (RFC 8410). */
const PRIVATE = Buffer.from('302e020100300506032b657004220420', 'hex');
const PUBLIC = Buffer.from('302a300506032b6570032100', 'hex');
const KEY_BYTES = 32;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const KEPT_KEYS = 64;

const signers = new Map<string, Signer>();
const verifiers = new Map<string, KeyObject>();

const message = ({ threadId, clientRequestId, profileId }: Claim): Buffer =>
  Buffer.from(canonicalJson({ threadId, clientRequestId, profileId }));

/** The key in the text form of an nkey, behind `skip` bytes of its kind. The library has checked the text before. */
function keyBytes(text: string, skip: number): Buffer {
  const out: number[] = [];
  let bits = 0;
  let value = 0;
  for (const char of text) {
    value = (value << 5) | ALPHABET.indexOf(char);
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    out.push((value >>> bits) & 0xff);
    value &= (1 << bits) - 1;
  }
  return Buffer.from(out.slice(skip, skip + KEY_BYTES));
}

function remember<T>(kept: Map<string, T>, name: string, make: () => T): T {
  const known = kept.get(name);
  if (known !== undefined) return known;
  if (kept.size >= KEPT_KEYS) kept.clear();
  const made = make();
  kept.set(name, made);
  return made;
}

function signerOf(seed: string): Signer {
  return remember(signers, seed, () => ({
    publicKey: nkeys.fromSeed(new TextEncoder().encode(seed)).getPublicKey(),
    key: createPrivateKey({ key: Buffer.concat([PRIVATE, keyBytes(seed, 2)]), format: 'der', type: 'pkcs8' }),
  }));
}

function verifierOf(publicKey: string): KeyObject {
  return remember(verifiers, publicKey, () => {
    nkeys.fromPublic(publicKey);
    return createPublicKey({ key: Buffer.concat([PUBLIC, keyBytes(publicKey, 1)]), format: 'der', type: 'spki' });
  });
}

/** Signs a person's choice of permission profile with the edge's nkey seed. */
export function signAuthorization(seed: string, claim: Claim): Authorization {
  const { publicKey, key } = signerOf(seed);
  const { threadId, clientRequestId, profileId } = claim;
  const signature = sign(null, message(claim), key).toString('base64');
  return { threadId, clientRequestId, profileId, key: publicKey, signature };
}

/** True where the signature is of that claim by one of the known edges. */
export function verifyAuthorization(authorization: Authorization, edgeKeys: readonly string[]): boolean {
  if (!edgeKeys.includes(authorization.key)) return false;
  try {
    const signature = Buffer.from(authorization.signature, 'base64');
    return verify(null, message(authorization), verifierOf(authorization.key), signature);
  } catch {
    return false;
  }
}

/** Public key of an nkey seed. */
export function publicKeyOf(seed: string): string {
  return signerOf(seed).publicKey;
}
