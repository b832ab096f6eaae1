/** Longest line that is shown whole, in characters. */
export const MAX_LINE_CHARACTERS = 2000;

/** One line of a text without its line end; `cut` where only its first 2,000 characters are kept. */
export interface Line {
  readonly text: string;
  readonly cut: boolean;
}

/**
 * Splits a text that arrives in pieces into lines at LF, CRLF and lone CR. Of a line of any length only its shown part
 * is kept, so that a file without line ends cannot fill the memory.
 */
export class LineSplitter {
  #kept = '';
  #started = false;
  #afterReturn = false;

  /** Takes the next piece and gives the lines that it ends. */
  *push(piece: string): Generator<Line> {
    let from = 0;
    if (this.#afterReturn && piece.startsWith('\n')) from = 1;
    if (piece.length > 0) this.#afterReturn = false;
    const ends = /\r\n|\n|\r/g;
    ends.lastIndex = from;
    for (let end = ends.exec(piece); end !== null; end = ends.exec(piece)) {
      this.#keep(piece, from, end.index);
      yield this.#take();
      from = ends.lastIndex;
      // A CR at the end of a piece may be the first half of CRLF.
      this.#afterReturn = end[0] === '\r' && from === piece.length;
    }
    if (from < piece.length) this.#keep(piece, from, piece.length);
  }

  /** The last line, if the text does not finish with a line end. */
  *end(): Generator<Line> {
    if (this.#started) yield this.#take();
  }

  #keep(piece: string, from: number, to: number): void {
    this.#started = true;
    // Twice as many code units hold the characters in any case; one more shows that something follows.
    const room = MAX_LINE_CHARACTERS * 2 + 1 - this.#kept.length;
    if (room > 0) this.#kept += piece.slice(from, Math.min(to, from + room));
  }

  #take(): Line {
    const line = cutLine(this.#kept);
    this.#kept = '';
    this.#started = false;
    return line;
  }
}

/** Cuts a line to its first 2,000 characters (code points). */
export function cutLine(line: string): Line {
  if (line.length <= MAX_LINE_CHARACTERS) return { text: line, cut: false };
  const characters = [...line];
  if (characters.length <= MAX_LINE_CHARACTERS) return { text: line, cut: false };
  return { text: characters.slice(0, MAX_LINE_CHARACTERS).join(''), cut: true };
}
