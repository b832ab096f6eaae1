import { type BlobStore } from '@rookery/bus';
import { type Commit, isBlobRef, limits } from '@rookery/protocol';

const headOf = (text: string): string => {
  const head = text.slice(0, limits.blobHeadChars);
  // A cut inside a surrogate pair would leave half a character.
  return /[\uD800-\uDBFF]$/.test(head) ? head.slice(0, -1) : head;
};

async function mapStrings(value: unknown, change: (text: string) => Promise<unknown>): Promise<unknown> {
  if (typeof value === 'string') return value.length > limits.inlineStringChars ? await change(value) : value;
  if (Array.isArray(value)) return await Promise.all(value.map((entry) => mapStrings(entry, change)));
  if (value === null || typeof value !== 'object') return value;
  const members = await Promise.all(Object.entries(value).map(async ([key, member]) => [key, await mapStrings(member, change)]));
  return Object.fromEntries(members);
}

const hasLongString = (value: unknown): boolean => {
  if (typeof value === 'string') return value.length > limits.inlineStringChars;
  if (value === null || typeof value !== 'object') return false;
  return Object.values(value).some(hasLongString);
};

/** Moves every string over 65,536 characters into the object store, before the commit is appended. */
export async function externalizeBlobs(commit: Commit, blobs: BlobStore, threadId: string): Promise<Commit> {
  if (!commit.events.some((event) => hasLongString(event.payload))) return commit;
  const change = async (text: string) => ({
    blob: await blobs.put(threadId, text),
    bytes: new TextEncoder().encode(text).length,
    head: headOf(text),
  });
  const events = await Promise.all(
    commit.events.map(async (event) => ({
      ...event,
      payload: (await mapStrings(event.payload, change)) as Record<string, unknown>,
    })),
  );
  return { ...commit, events };
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
    if (isBlobRef(node)) return (await blobs.get(threadId, node.blob)) ?? `${node.head}… [${node.bytes} bytes are missing]`;
    if (Array.isArray(node)) return await Promise.all(node.map(walk));
    return Object.fromEntries(await Promise.all(Object.entries(node).map(async ([key, member]) => [key, await walk(member)])));
  };
  return (await walk(value)) as T;
}
