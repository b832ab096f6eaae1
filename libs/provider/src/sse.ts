/** Thrown when an event, or a line that never ends, is longer than allowed. */
export class SseTooLarge extends Error {}

/**
 * Incremental parser of server-sent events. Lines end with CR, LF or CRLF, also when the pair is split between chunks;
 * UTF-8 may be split anywhere. Only the data of an event matters to us: comments, ids, names and retry hints are dropped.
 */
export class SseParser {
  readonly #maxChars: number;
  readonly #decoder = new TextDecoder('utf-8');
  #line = '';
  #data: string | undefined;
  #skipLf = false;

  /** `maxChars` bounds an event and a single line, in characters. */
  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  /** Takes the next bytes and hands over the data of every event that they complete; throws SseTooLarge. */
  push(bytes: Uint8Array, onData: (data: string) => void): void {
    this.#take(this.#decoder.decode(bytes, { stream: true }), onData);
  }

  /** Takes the end of the stream: many servers leave out the last blank line, so a started event counts. */
  end(onData: (data: string) => void): void {
    this.#take(this.#decoder.decode(), onData);
    if (this.#line !== '') this.#endLine(onData);
    if (this.#data !== undefined) this.#dispatch(onData);
  }

  #take(text: string, onData: (data: string) => void): void {
    let start = 0;
    // Only new text is searched, so that a long line in small chunks stays linear.
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code !== 10 && code !== 13) continue;
      if (code === 10 && this.#skipLf && at === start && this.#line === '') {
        this.#skipLf = false;
        start = at + 1;
        continue;
      }
      this.#append(text.slice(start, at));
      this.#endLine(onData);
      this.#skipLf = code === 13;
      start = at + 1;
    }
    if (start < text.length) {
      this.#skipLf = false;
      this.#append(text.slice(start));
    }
  }

  #append(text: string): void {
    if (this.#line.length + text.length + (this.#data?.length ?? 0) > this.#maxChars) throw new SseTooLarge();
    this.#line += text;
  }

  #endLine(onData: (data: string) => void): void {
    const line = this.#line;
    this.#line = '';
    if (line === '') {
      if (this.#data !== undefined) this.#dispatch(onData);
      return;
    }
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    if (field !== 'data') return;
    const raw = colon < 0 ? '' : line.slice(colon + 1);
    const value = raw.startsWith(' ') ? raw.slice(1) : raw;
    this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
  }

  #dispatch(onData: (data: string) => void): void {
    const data = this.#data ?? '';
    this.#data = undefined;
    onData(data);
  }
}
