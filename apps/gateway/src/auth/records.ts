import * as z from 'zod';

/** What the bucket `tokens` holds: hashes and times, never a credential. */

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const millis = z.int().min(0);

export const ownerRecord = z.object({ hash, at: millis });
/** What codes and sessions have in common: they end by time and with the owner token. */
export const endingRecord = z.object({ ownerHash: hash, expiresAt: millis });
export const codeRecord = endingRecord.extend({ used: z.boolean() });
export const sessionRecord = endingRecord.extend({ keyHash: hash });

export type OwnerRecord = z.infer<typeof ownerRecord>;
export type SessionRecord = z.infer<typeof sessionRecord>;

export const OWNER_KEY = 'owner';
export const codeKey = (codeHash: string) => `code.${codeHash}`;
export const sessionKey = (cookieHash: string) => `session.${cookieHash}`;
export const SESSION_PREFIX = 'session.';

/** Reads a record; null where it is none, as nothing may be allowed by what cannot be read. */
export function readRecord<T>(schema: z.ZodType<T>, value: Uint8Array | null): T | null {
  if (value === null) return null;
  try {
    const parsed = schema.safeParse(JSON.parse(new TextDecoder().decode(value)));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
