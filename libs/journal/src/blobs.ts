import type { BlobStore } from '@rookery/bus';
import { type Commit, type CommitEvent, isBlobRef, limits } from '@rookery/protocol';

const headOf = (text: string): string => {
  const head = text.slice(0, limits.blobHeadChars);
  // A cut inside a surrogate pair would leave half a character.
  return /[\uD800-\uDBFF]$/.test(head) ? head.slice(0, -1) : head;
};

type Change = (text: string) => Promise<unknown>;

async function mapStrings(value: unknown, longest: number, change: Change): Promise<unknown> {
  if (typeof value === 'string') return value.length > longest ? await change(value) : value;
  if (Array.isArray(value)) return await Promise.all(value.map((entry) => mapStrings(entry, longest, change)));
  if (value === null || typeof value !== 'object') return value;
  const members = await Promise.all(
    Object.entries(value).map(async ([key, member]) => [key, await mapStrings(member, longest, change)]),
  );
  return Object.fromEntries(members);
}

const hasLongString = (value: unknown, longest: number): boolean => {
  if (typeof value === 'string') return value.length > longest;
  if (value === null || typeof value !== 'object') return false;
  return Object.values(value).some((member) => hasLongString(member, longest));
};

/** A delta stays text whatever its length: nobody could show a stream of references. */
const isMovable = (event: CommitEvent): boolean => event.type !== 'item.delta';

async function moveLonger(commit: Commit, longest: number, change: Change): Promise<Commit> {
  const moves = (event: CommitEvent) => isMovable(event) && hasLongString(event.payload, longest);
  if (!commit.events.some(moves)) return commit;
  const events = await Promise.all(
    commit.events.map(async (event) => {
      if (!moves(event)) return event;
      return { ...event, payload: (await mapStrings(event.payload, longest, change)) as Record<string, unknown> };
    }),
  );
  return { ...commit, events };
}

/** Characters above which strings move too where a commit would be too large with them. */
const CROWDED_CHARS = 4096;

/**
 * Moves every string over 65,536 characters into the object store, before the commit is appended. Where many shorter
 * ones together would make the commit too large (the end of a run closes all that is open at once), they move as well.
 */
export async function externalizeBlobs(commit: Commit, blobs: BlobStore, threadId: string): Promise<Commit> {
  const encoder = new TextEncoder();
  const change: Change = async (text) => ({
    blob: await blobs.put(threadId, text),
    bytes: encoder.encode(text).length,
    head: headOf(text),
  });
  const moved = await moveLonger(commit, limits.inlineStringChars, change);
  if (encoder.encode(JSON.stringify(moved)).length <= limits.commitBytes) return moved;
  return await moveLonger(moved, CROWDED_CHARS, change);
}

/** True where a value holds a reference into the object store. */
export function hasBlobs(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return false;
  if ('blob' in value && isBlobRef(value)) return true;
  return Object.values(value).some(hasBlobs);
}

/** Puts long strings back; where the store lost one, its head stands with a mark. */
export async function inlineBlobs<T>(value: T, blobs: BlobStore, threadId: string): Promise<T> {
  if (!hasBlobs(value)) return value;
  const walk = async (node: unknown): Promise<unknown> => {
    if (node === null || typeof node !== 'object') return node;
    if (isBlobRef(node))
      return (await blobs.get(threadId, node.blob)) ?? `${node.head}… [${node.bytes} bytes are missing]`;
    if (Array.isArray(node)) return await Promise.all(node.map(walk));
    return Object.fromEntries(
      await Promise.all(Object.entries(node).map(async ([key, member]) => [key, await walk(member)])),
    );
  };
  return (await walk(value)) as T;
}
