import { type ObjectStore, Objm } from '@nats-io/obj';
import { BLOBS, sha256Hex } from '@rookery/protocol';
import type { Bus } from './connection.ts';
import { busError } from './failures.ts';

/** Strings that are too long for a commit, stored under `<threadId>/<sha256>`. */
export interface BlobStore {
  /** Stores a text and returns its SHA-256; the same text of the same thread is stored once. */
  put(threadId: string, text: string): Promise<string>;
  get(threadId: string, sha256: string): Promise<string | null>;
}

const name = (threadId: string, sha256: string): string => `${threadId}/${sha256}`;

/** Opens the object store; it is bound when it is first used. */
export function openBlobs(bus: Bus): BlobStore {
  let opened: Promise<ObjectStore> | null = null;
  const store = (): Promise<ObjectStore> => {
    opened ??= new Objm(bus.nc).open(BLOBS, false).catch((error: unknown) => {
      opened = null;
      throw error;
    });
    return opened;
  };
  return {
    async put(threadId, text) {
      const sha256 = sha256Hex(text);
      try {
        const objects = await store();
        // Writing a name again would purge its old chunks, which only the eraser may do.
        const existing = await objects.info(name(threadId, sha256));
        if (existing === null) await objects.putBlob({ name: name(threadId, sha256) }, new TextEncoder().encode(text));
        return sha256;
      } catch (error) {
        throw busError(error);
      }
    },
    async get(threadId, sha256) {
      try {
        const bytes = await (await store()).getBlob(name(threadId, sha256));
        return bytes === null ? null : new TextDecoder().decode(bytes);
      } catch (error) {
        throw busError(error);
      }
    },
  };
}
