import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { AppError } from '@rookery/protocol';

const keyBytes = 32;
const ivBytes = 12;
const tagBytes = 16;
const version = 'rk1';

/** Where a sealed value belongs; it opens nowhere else. */
export interface SealPlace {
  bucket: string;
  item: string;
  field: string;
  /** Revision of the item in which the value was written. */
  revision: number;
}

/** The master key of a home from its 64 hex digits; null for anything else. */
export function parseMasterKey(text: string): Uint8Array | null {
  const hex = text.trim();
  return /^[0-9a-fA-F]{64}$/.test(hex) ? Buffer.from(hex, 'hex') : null;
}

/** The 32 byte key of one bucket: HKDF-SHA256 of the master key, info = its name. A process gets only those it needs. */
export function deriveKey(masterKey: Uint8Array, bucket: string): Uint8Array {
  if (masterKey.length !== keyBytes) throw new AppError('VAULT_LOCKED');
  return new Uint8Array(hkdfSync('sha256', masterKey, '', bucket, keyBytes));
}

/** Encrypts a value for its place (AES-256-GCM), as `rk1.<iv>.<ciphertext and tag>` in base64url. */
export function seal(key: Uint8Array, place: SealPlace, value: string): string {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv('aes-256-gcm', checkedKey(key), iv, { authTagLength: tagBytes });
  cipher.setAAD(additionalData(place));
  const sealed = Buffer.concat([cipher.update(value, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `${version}.${iv.toString('base64url')}.${sealed.toString('base64url')}`;
}

/** Decrypts a value at its place; throws VAULT_LOCKED where key, place or bytes are not those of the sealing. */
export function open(key: Uint8Array, place: SealPlace, envelope: string): string {
  const [found, iv, sealed, ...rest] = envelope.split('.');
  const bytes = Buffer.from(sealed ?? '', 'base64url');
  const nonce = Buffer.from(iv ?? '', 'base64url');
  const wellFormed = found === version && rest.length === 0 && nonce.length === ivBytes && bytes.length >= tagBytes;
  if (!wellFormed) throw locked(place, 'format');
  try {
    const decipher = createDecipheriv('aes-256-gcm', checkedKey(key), nonce, { authTagLength: tagBytes });
    decipher.setAAD(additionalData(place));
    decipher.setAuthTag(bytes.subarray(bytes.length - tagBytes));
    return Buffer.concat([decipher.update(bytes.subarray(0, -tagBytes)), decipher.final()]).toString('utf8');
  } catch {
    throw locked(place, 'authentication');
  }
}

function checkedKey(key: Uint8Array): Uint8Array {
  if (key.length !== keyBytes) throw new AppError('VAULT_LOCKED');
  return key;
}

/** `bucket/item/field/revision`; a slash in a part is escaped, so that no two places read the same. */
function additionalData({ bucket, item, field, revision }: SealPlace): Buffer {
  return Buffer.from([bucket, item, field, String(revision)].map(encodeURIComponent).join('/'), 'utf8');
}

function locked({ bucket, item, field }: SealPlace, why: string): AppError {
  return new AppError('VAULT_LOCKED', {
    message: 'A stored secret cannot be opened; the key is another one or the stored value was changed.',
    details: { bucket, item, field, why },
  });
}
