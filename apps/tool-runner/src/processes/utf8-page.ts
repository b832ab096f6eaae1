/** A piece of output as text, and how many of its bytes the text stands for. */
export interface DecodedPage {
  readonly text: string;
  readonly used: number;
}

/** How a page is cut out of bytes. */
export interface PageCut {
  /** Most UTF-8 bytes that the text may have. */
  readonly limit: number;
  /** Leave out the rest of a character whose beginning was dropped. */
  readonly skipPartial: boolean;
  /** Nothing follows: an unfinished character at the end is shown as damaged instead of being kept back. */
  readonly final: boolean;
}

/** Decodes bytes at character boundaries; bytes that are no UTF-8 become U+FFFD. */
export function decodePage(bytes: Buffer, cut: PageCut): DecodedPage {
  const start = cut.skipPartial ? partialStart(bytes) : 0;
  let end = cut.final ? bytes.length : bytes.length - unfinished(bytes);
  for (;;) {
    const text = bytes.toString('utf8', start, end);
    // Each damaged byte becomes three, so what is no text needs a smaller page.
    if (Buffer.byteLength(text) <= cut.limit || end - start <= 4) return { text, used: end };
    end = start + Math.floor((end - start) / 2);
    end -= unfinished(bytes.subarray(0, end));
  }
}

/** Length of the continuation bytes (at most 3) that a text cut in mid-character begins with. */
function partialStart(bytes: Buffer): number {
  let length = 0;
  while (length < 3 && length < bytes.length && ((bytes[length] ?? 0) & 0xc0) === 0x80) length += 1;
  return length;
}

/** Length of a character at the end whose last bytes are missing; 0 where the end is whole or no UTF-8. */
export function unfinished(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const size = byte >= 0xf0 && byte < 0xf8 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
    return byte < 0xf8 && size > back ? back : 0;
  }
  return 0;
}
