import type { Bucket } from '@rookery/bus';
import { hashOf, newCredential } from './hashing.ts';
import { OWNER_KEY, type OwnerRecord, ownerRecord, readRecord } from './records.ts';
import { readTokenFile, writeTokenFile } from './token-file.ts';

export interface OwnerToken {
  record: OwnerRecord;
  /** True where this home's file no longer holds the token; `token rotate` on the home that has it mends this. */
  fileIsStale: boolean;
}

async function save(tokens: Bucket, hash: string, now: number, revision: number): Promise<OwnerRecord> {
  const record: OwnerRecord = { hash, at: now };
  await tokens.put(OWNER_KEY, JSON.stringify(record), revision);
  return record;
}

/**
 * Settles which owner token is in force. Its file is written before its hash: a file newer than the hash is a rotation
 * that was cut off, and holds; an older one was left behind on another machine, and does not. A missing file is made.
 */
export async function settleOwnerToken(tokens: Bucket, home: string, now: number): Promise<OwnerToken> {
  const entry = await tokens.get(OWNER_KEY);
  const stored = readRecord(ownerRecord, entry?.value ?? null);
  const file = await readTokenFile(home);
  if (file === null) {
    const token = newCredential();
    await writeTokenFile(home, token);
    return { record: await save(tokens, hashOf(token), now, entry?.revision ?? 0), fileIsStale: false };
  }
  const fileHash = hashOf(file.token);
  if (stored?.hash === fileHash) return { record: stored, fileIsStale: false };
  if (stored === null || file.writtenAt > stored.at) {
    return { record: await save(tokens, fileHash, now, entry?.revision ?? 0), fileIsStale: false };
  }
  return { record: stored, fileIsStale: true };
}
