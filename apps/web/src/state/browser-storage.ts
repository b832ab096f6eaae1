/** What this browser keeps of the page. Where storage is switched off or full, it is kept until the page is closed. */
const unsaved = new Map<string, string | null>();

/** A stored text, or null. */
export function readStored(key: string): string | null {
  const newer = unsaved.get(key);
  if (newer !== undefined) return newer;
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Stores a text, or removes it for null. */
export function writeStored(key: string, text: string | null): void {
  try {
    if (text === null) localStorage.removeItem(key);
    else localStorage.setItem(key, text);
    unsaved.delete(key);
  } catch {
    unsaved.set(key, text);
  }
}

/** The keys that begin with a prefix. */
export function storedKeys(prefix: string): string[] {
  let kept: string[] = [];
  try {
    kept = Object.keys(localStorage);
  } catch {
    // Storage is switched off: there are none.
  }
  return [...new Set([...kept, ...unsaved.keys()])].filter((key) => key.startsWith(prefix));
}
