export type HeadersResult = { ok: true; headers: Record<string, string> } | { ok: false; line: string };

/** Headers from lines of "Name: value"; the first line that is none is given back. */
export function parseHeaders(text: string): HeadersResult {
  const headers: Record<string, string> = {};
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const match = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*:\s*(.*?)\s*$/.exec(line);
    if (!match?.[1]) return { ok: false, line: line.trim().slice(0, 40) };
    headers[match[1]] = match[2] ?? '';
  }
  return { ok: true, headers };
}
