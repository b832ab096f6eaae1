import { type KV, Kvm } from '@nats-io/kv';
import { AppError, type BucketName } from '@rookery/protocol';
import type { Bus } from './connection.ts';
import { busError } from './failures.ts';

export interface BucketEntry {
  value: Uint8Array;
  revision: number;
}

export type WatchCallback = (key: string, value: Uint8Array | null, revision: number) => void;

/** A key-value bucket that provision made. */
export interface Bucket {
  get(key: string): Promise<BucketEntry | null>;
  /** Writes a key; with an expected revision (0 = absent) another writer's change gives CONFIG_CONFLICT. */
  put(key: string, value: Uint8Array | string, expectedRevision?: number): Promise<number>;
  delete(key: string): Promise<void>;
  keys(filter?: string): Promise<string[]>;
  /** Reports what is there (before it resolves) and then every change; null = deleted. Expiry is not reported. */
  watch(onEntry: WatchCallback, filter?: string): Promise<{ stop(): void }>;
}

const WRONG_LAST_SEQUENCE = 10071;
const apiCode = (error: unknown): number | undefined => (error as { code?: number } | null)?.code;

/** Opens a bucket by name without asking for more permissions than its keys need. */
export async function openBucket(bus: Bus, name: BucketName): Promise<Bucket> {
  const kv: KV = await new Kvm(bus.nc).open(name, { bindOnly: true, allow_direct: true }).catch((error: unknown) => {
    throw busError(error);
  });

  const get = async (key: string): Promise<BucketEntry | null> => {
    try {
      const entry = await kv.get(key);
      return entry === null || entry.operation !== 'PUT' ? null : { value: entry.value, revision: entry.revision };
    } catch (error) {
      throw busError(error);
    }
  };

  const keys = async (filter?: string): Promise<string[]> => {
    try {
      const out: string[] = [];
      for await (const key of await kv.keys(filter)) out.push(key);
      return out;
    } catch (error) {
      throw busError(error);
    }
  };

  return {
    get,
    keys,
    async put(key, value, expectedRevision) {
      try {
        if (expectedRevision === undefined) return await kv.put(key, value);
        return await kv.put(key, value, { previousSeq: expectedRevision });
      } catch (error) {
        if (apiCode(error) === WRONG_LAST_SEQUENCE) throw new AppError('CONFIG_CONFLICT', { cause: error });
        throw busError(error);
      }
    },
    async delete(key) {
      try {
        await kv.delete(key);
      } catch (error) {
        throw busError(error);
      }
    },
    async watch(onEntry, filter) {
      const seen = new Map<string, number>();
      const report: WatchCallback = (key, value, revision) => {
        if (revision <= (seen.get(key) ?? 0)) return;
        seen.set(key, revision);
        onEntry(key, value, revision);
      };
      // The watch stands before the listing, so that nothing that changes between the two is missed.
      const changes = await kv.watch({ ...(filter === undefined ? {} : { key: filter }) }).catch((error: unknown) => {
        throw busError(error);
      });
      const follow = async () => {
        for await (const entry of changes) {
          report(entry.key, entry.operation === 'PUT' ? entry.value : null, entry.revision);
        }
      };
      void follow();
      try {
        for (const key of await keys(filter)) {
          const entry = await get(key);
          if (entry !== null) report(key, entry.value, entry.revision);
        }
      } catch (error) {
        // Whoever tries again makes another one.
        changes.stop();
        throw error;
      }
      return { stop: () => changes.stop() };
    },
  };
}
