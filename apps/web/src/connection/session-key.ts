import { readStored, writeStored } from '../state/browser-storage.ts';

const STORAGE = 'rookery.key';

/** The per-origin key that goes with the session cookie. */
export function storedKey(): string | null {
  return readStored(STORAGE);
}

export function forgetKey(): void {
  writeStored(STORAGE, null);
}

/** What became of a link's code: `none` where the address has none, `refused` where it was used before or is too old. */
export type CodeOutcome = 'none' | 'accepted' | 'refused' | 'unreachable';

/** Trades a one-time code in the fragment for a key. Whatever comes of it, the code leaves the address. */
export async function exchangeCode(): Promise<CodeOutcome> {
  if (!location.hash.startsWith('#code=')) return 'none';
  const code = location.hash.slice('#code='.length);
  history.replaceState(null, '', location.pathname);
  try {
    const response = await fetch('/auth/exchange', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
    });
    if (response.status === 400 || response.status === 401) return 'refused';
    if (!response.ok) return 'unreachable';
    const { key } = (await response.json()) as { key?: unknown };
    if (typeof key !== 'string') return 'unreachable';
    writeStored(STORAGE, key);
    return 'accepted';
  } catch {
    return 'unreachable';
  }
}

/** False only where the server answers that the key is not valid; an unreachable server says nothing about it. */
export async function keyAccepted(): Promise<boolean> {
  try {
    const response = await fetch('/rpc/v1', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-rookery-key': storedKey() ?? '' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'thread.list', params: { limit: 1 } }),
    });
    return response.status !== 401;
  } catch {
    return true;
  }
}
