import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** SHA-256 of a credential, 64 hex digits. Credentials have 256 random bits, so that one round is enough. */
export function hashOf(credential: string): string {
  return createHash('sha256').update(credential, 'utf8').digest('hex');
}

/** Compares two hashes in constant time. */
export function sameHash(a: string, b: string): boolean {
  const left = Buffer.from(a, 'hex');
  const right = Buffer.from(b, 'hex');
  return left.length === 32 && right.length === 32 && timingSafeEqual(left, right);
}

/** A new credential of 256 random bits. */
export function newCredential(): string {
  return randomBytes(32).toString('base64url');
}
