/** What a scripted model does, one after the other, in answer to one request. */
export type ModelStep =
  /** Text, whole or as `deltas` pieces of about the same length (or pieces of `chunkChars`), `delayMs` before each. */
  | { text: string; deltas?: number; chunkChars?: number; delayMs?: number }
  | { reasoning: string; deltas?: number; chunkChars?: number; delayMs?: number }
  | ModelToolCall
  /** Waits; the connection stays silent. */
  | { waitMs: number }
  /** Answers with an HTTP status instead of a stream; only as the first step that sends anything. */
  | { status: number; body?: string; headers?: Record<string, string> }
  /** Never goes on, with or without headers sent before; ends when the client does. */
  | { hang: 'headers' | 'stream' }
  /** Bytes as they are, into the stream. */
  | { raw: string }
  /** Drops the connection. */
  | { cut: true }
  | { usage: { prompt: number; completion: number; cached?: number; reasoning?: number } }
  /** Ends the answer with this reason; null leaves the reason out. Without it a fitting one is sent. */
  | { finish: string | null };

/** A call of a tool; `form` is the dialect in which its fragments are sent. */
export interface ModelToolCall {
  tool: string;
  arguments: unknown;
  id?: string;
  /** `standard`: id and name once, arguments in pieces. `no-index`: the same without index. `whole`: one fragment, index 0. */
  form?: 'standard' | 'no-index' | 'whole';
  /** Pieces of the arguments text, 2 by default. */
  fragments?: number;
}

/** Cuts a text into pieces (exactly `deltas` where it is long enough) without breaking a character. */
export function pieces(text: string, options: { deltas?: number; chunkChars?: number }): string[] {
  const chars = Array.from(text);
  const count = options.chunkChars === undefined ? (options.deltas ?? 1) : Math.ceil(chars.length / options.chunkChars);
  const out: string[] = [];
  let at = 0;
  for (let left = Math.min(count, chars.length); left > 0; left--) {
    const end = at + (options.chunkChars ?? Math.ceil((chars.length - at) / left));
    out.push(chars.slice(at, end).join(''));
    at = end;
  }
  return out;
}
