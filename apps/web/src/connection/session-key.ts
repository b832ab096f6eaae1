const STORAGE = 'rookery.key';

/** The per-origin key that goes with the session cookie. */
export function storedKey(): string | null {
  try {
    return localStorage.getItem(STORAGE);
  } catch {
    return null;
  }
}

export function forgetKey(): void {
  localStorage.removeItem(STORAGE);
}

/** Trades a one-time code in the fragment for a key; the fragment is removed either way. Returns false where the code was refused. */
export async function exchangeCode(): Promise<boolean> {
  const code = /^#code=([A-Za-z0-9_-]{1,200})$/.exec(location.hash)?.[1];
  if (!code) return true;
  history.replaceState(null, '', location.pathname);
  try {
    const response = await fetch('/auth/exchange', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
    });
    if (!response.ok) return false;
    const { key } = (await response.json()) as { key?: unknown };
    if (typeof key !== 'string') return false;
    localStorage.setItem(STORAGE, key);
    return true;
  } catch {
    return false;
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
