import { ToolFailure } from '../tool-call.ts';

/** One pattern in the two dialects that match lines, with the same meaning in both. */
export interface LinePattern {
  readonly rust: string;
  readonly js: string;
}

const WORD = '[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}]';
const JS_CLASSES: Readonly<Record<string, string>> = {
  d: '\\p{Nd}',
  D: '\\P{Nd}',
  s: '\\p{White_Space}',
  S: '\\P{White_Space}',
  w: WORD,
  W: `[^${WORD.slice(1)}`,
};
const POSIX: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  digit: '0-9',
  lower: 'a-z',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};
const CONTROLS: Readonly<Record<string, number>> = { t: 9, v: 11, f: 12, r: 13 };
const BOUNDARY = {
  b: `(?:(?<=${WORD})(?!${WORD})|(?<!${WORD})(?=${WORD}))`,
  B: `(?:(?<=${WORD})(?=${WORD})|(?<!${WORD})(?!${WORD}))`,
} as const;

/**
 * Reads a regular expression of the common dialect and writes it for ripgrep and for this program's own matcher. Fails
 * with invalid_pattern, also for what only one of them has: look-around, back references, flags but a leading (?i).
 */
export function linePattern(source: string): LinePattern {
  return new Translator(source).translate();
}

class Translator {
  readonly #source: string;
  #at = 0;
  #rust = '';
  #js = '';
  #depth = 0;
  /** Whether what stands before can be repeated. */
  #repeatable = false;

  constructor(source: string) {
    this.#source = source;
  }

  translate(): LinePattern {
    while (this.#at < this.#source.length) this.#step();
    if (this.#depth > 0) this.#fail('a group is not closed');
    return { rust: this.#rust, js: this.#js };
  }

  #step(): void {
    const character = this.#next();
    if (character === '\\') this.#escape();
    else if (character === '[') this.#class();
    else if (character === '(') this.#open();
    else if (character === ')') this.#close();
    else if (character === '.') this.#emit('.', '[^\\n]', true);
    else if (character === '^' || character === '|') this.#emit(character, character, false);
    // Lines keep the CR of CRLF, which the end of a line must pass over.
    else if (character === '$') this.#emit('(?:\\r?$)', '(?:\\r?$)', false);
    else if ('*+?'.includes(character)) this.#repeat(character);
    else if (character === '{') this.#brace();
    else this.#literal(character);
  }

  #close(): void {
    this.#depth -= 1;
    if (this.#depth < 0) this.#fail('a group is closed that was not opened');
    this.#emit(')', ')', true);
  }

  /** A brace is a quantifier if it reads like one, else itself: code is full of braces. */
  #brace(): void {
    const counts = /^\d{1,4}(?:,\d{0,4})?\}/.exec(this.#source.slice(this.#at))?.[0];
    if (counts === undefined) {
      this.#literal('{');
      return;
    }
    this.#at += counts.length;
    this.#repeat(`{${counts}`);
  }

  #next(): string {
    const character = String.fromCodePoint(this.#source.codePointAt(this.#at) ?? 0);
    this.#at += character.length;
    return character;
  }

  #take(expected: string): boolean {
    if (!this.#source.startsWith(expected, this.#at)) return false;
    this.#at += expected.length;
    return true;
  }

  #emit(rust: string, js: string, repeatable: boolean): void {
    this.#rust += rust;
    this.#js += js;
    this.#repeatable = repeatable;
  }

  #literal(character: string): void {
    this.#emit(...this.#written(character), true);
  }

  /** A character in both dialects, by its number unless it can mean nothing else. */
  #written(character: string): [string, string] {
    if (character === '\n') this.#fail('a line end cannot occur inside a line');
    if (/^[\p{L}\p{N}_ ]$/u.test(character)) return [character, character];
    const number = (character.codePointAt(0) ?? 0).toString(16);
    return [`\\x{${number}}`, `\\u{${number}}`];
  }

  #repeat(quantifier: string): void {
    if (!this.#repeatable) this.#fail('there is nothing to repeat');
    const written = quantifier + (this.#take('?') ? '?' : '');
    this.#emit(written, written, false);
  }

  #open(): void {
    if (this.#take('?')) {
      const start = /^(?::|P?<[A-Za-z_]\w*>)/.exec(this.#source.slice(this.#at))?.[0];
      if (start === undefined) this.#fail('look-around and flags inside the pattern are not supported');
      this.#at += start.length;
    }
    this.#depth += 1;
    this.#emit('(?:', '(?:', false);
  }

  #escape(): void {
    const character = this.#next();
    if (character === 'b' || character === 'B') this.#emit(`\\${character}`, BOUNDARY[character], false);
    else this.#emit(...this.#escaped(character), true);
  }

  /** What an escape means that may stand inside and outside of a class. */
  #escaped(character: string): [string, string] {
    const set = JS_CLASSES[character];
    if (set !== undefined) return [`\\${character}`, set];
    const control = CONTROLS[character];
    if (control !== undefined) return this.#written(String.fromCodePoint(control));
    if (character === 'p' || character === 'P') return this.#property(character);
    if (character === 'x' || character === 'u') return this.#numbered(character);
    if (!/^[\p{P}\p{S} ]$/u.test(character)) this.#fail('an escape is not supported');
    return this.#written(character);
  }

  #property(letter: string): [string, string] {
    const name = /^(?:\{[A-Za-z_]+(?:=[A-Za-z_]+)?\}|[A-Z])/.exec(this.#source.slice(this.#at))?.[0];
    if (name === undefined) this.#fail('a character property is not understood');
    this.#at += name.length;
    const braced = name.startsWith('{') ? name : `{${name}}`;
    return [`\\${letter}${braced}`, `\\${letter}${braced}`];
  }

  #numbered(letter: string): [string, string] {
    const digits =
      letter === 'x' ? /^(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,6})\})/ : /^(?:([0-9A-Fa-f]{4})|\{([0-9A-Fa-f]{1,6})\})/;
    const match = digits.exec(this.#source.slice(this.#at));
    const number = Number.parseInt(match?.[1] ?? match?.[2] ?? '', 16);
    if (match === null || number > 0x10ffff || (number >= 0xd800 && number < 0xe000))
      this.#fail('a character number is not valid');
    this.#at += match[0].length;
    return this.#written(String.fromCodePoint(number));
  }

  #class(): void {
    const negated = this.#take('^') ? '^' : '';
    let rust = '';
    let js = '';
    for (let first = true; ; first = false) {
      if (this.#at >= this.#source.length) this.#fail('a class is not closed');
      if (!first && this.#take(']')) break;
      const [memberRust, memberJs] = this.#member();
      rust += memberRust;
      js += memberJs;
    }
    this.#emit(`[${negated}${rust}]`, `[${negated}${js}]`, true);
  }

  #member(): [string, string] {
    const posix = /^\[:([a-z]+):\]/.exec(this.#source.slice(this.#at));
    if (posix !== null) {
      const range = POSIX[posix[1] ?? ''];
      if (range === undefined) this.#fail('a named class is not supported');
      this.#at += posix[0].length;
      return [range, range];
    }
    const from = this.#classCharacter();
    const isRange = this.#source[this.#at] === '-' && !['', ']'].includes(this.#source[this.#at + 1] ?? '');
    if (!isRange) return from;
    this.#at += 1;
    const to = this.#classCharacter();
    return [`${from[0]}-${to[0]}`, `${from[1]}-${to[1]}`];
  }

  #classCharacter(): [string, string] {
    const character = this.#next();
    return character === '\\' ? this.#escaped(this.#next()) : this.#written(character);
  }

  #fail(reason: string): never {
    throw new ToolFailure('invalid_pattern', `The pattern cannot be used: ${reason}.`);
  }
}
