import { type ObjectResult, type ObjectStore, Objm } from '@nats-io/obj';
import { AppError, BLOBS, sha256Hex } from '@rookery/protocol';
import type { Bus } from './connection.ts';
import { busError } from './failures.ts';

/** Strings that are too long for a commit, stored under `<threadId>/<sha256>`. */
export interface BlobStore {
  /** Stores a text and returns its SHA-256; the same text of the same thread is stored once. */
  put(threadId: string, text: string): Promise<string>;
  get(threadId: string, sha256: string): Promise<string | null>;
}

const name = (threadId: string, sha256: string): string => `${threadId}/${sha256}`;

/** The text of an object. Gives up once nothing came for a time: its consumer does not outlive a kill of nats-server. */
async function readText({ data, error }: ObjectResult, idleMs: number): Promise<string> {
  // A failure comes with the data as well.
  error.catch(() => undefined);
  const reader = data.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    let timer: NodeJS.Timeout | undefined;
    const silence = new Promise<'silence'>((resolve) => {
      timer = setTimeout(() => resolve('silence'), idleMs);
    });
    const next = await Promise.race([reader.read(), silence]);
    clearTimeout(timer);
    if (next === 'silence') {
      await reader.cancel();
      throw new AppError('SERVICE_UNAVAILABLE', { details: { failure: 'ambiguous' } });
    }
    if (next.done) return text + decoder.decode();
    text += decoder.decode(next.value, { stream: true });
  }
}

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
        const failure = busError(error);
        if (failure.code !== 'PERMISSION_VIOLATION') throw failure;
        // After a put that failed the library purges its chunks, which no service may do: that refusal hides the failure.
        throw new AppError('SERVICE_UNAVAILABLE', { cause: error, details: { failure: 'ambiguous' } });
      }
    },
    async get(threadId, sha256) {
      try {
        const found = await (await store()).get(name(threadId, sha256));
        return found === null ? null : await readText(found, bus.publishTimeoutMs);
      } catch (error) {
        throw busError(error);
      }
    },
  };
}
