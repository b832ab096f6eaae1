import { AppError, limits } from '@rookery/protocol';

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const OPEN = new Set([91, 123]);
const CLOSE = new Set([93, 125]);
const OBJECT = 123;

interface Frame {
  /** Keys so far; null in an array. */
  keys: Set<string> | null;
  expectsKey: boolean;
}

const refuse = (reason: string): AppError => new AppError('INVALID_REQUEST', { details: { reason } });

/** The text's end of a string that begins at a quote, or the text's length where it does not end. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === QUOTE) return at;
  }
  return text.length;
}

const keyOf = (raw: string): string => {
  if (!raw.includes('\\')) return raw.slice(1, -1);
  try {
    return JSON.parse(raw) as string;
  } catch {
    // Bad grammar, which the parser reports afterwards.
    return raw;
  }
};

/** Refuses nesting over the limit and repeated keys, before anything is built. Grammar is left to the parser. */
function checkStructure(text: string): void {
  const frames: Frame[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = stringEnd(text, at);
      const frame = frames.at(-1);
      if (frame?.keys && frame.expectsKey) {
        const key = keyOf(text.slice(at, end + 1));
        if (frame.keys.has(key)) throw refuse('duplicate_key');
        frame.keys.add(key);
        frame.expectsKey = false;
      }
      at = end;
    } else if (OPEN.has(code)) {
      if (frames.length >= limits.jsonDepth) throw refuse('too_deep');
      frames.push({ keys: code === OBJECT ? new Set() : null, expectsKey: true });
    } else if (CLOSE.has(code)) {
      frames.pop();
    } else if (code === COMMA) {
      const frame = frames.at(-1);
      if (frame) frame.expectsKey = true;
    }
  }
}

function checkNumbers(value: unknown): void {
  if (typeof value === 'number') {
    // What the text said is lost beyond 2^53-1, so it cannot be taken for the number that was meant.
    if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)))
      throw refuse('number_range');
  } else if (Array.isArray(value)) {
    for (const entry of value) checkNumbers(entry);
  } else if (value !== null && typeof value === 'object') {
    for (const entry of Object.values(value)) checkNumbers(entry);
  }
}

/**
 * Parses JSON without doubt about its meaning: at most 64 levels, no key twice in an object, no number that is not
 * finite or an integer beyond 2^53-1. Throws PARSE_ERROR for what is no JSON, INVALID_REQUEST with a reason for the rest.
 */
export function parseStrictJson(text: string): unknown {
  checkStructure(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new AppError('PARSE_ERROR');
  }
  checkNumbers(value);
  return value;
}
