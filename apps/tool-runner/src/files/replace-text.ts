import { styleOf, withNewline } from './text-style.ts';

/** Outcome of replacing a piece of a text. */
export type Replacement =
  | { readonly ok: true; readonly text: string; readonly count: number }
  | { readonly ok: false; readonly code: 'no_change' | 'no_match' | 'multiple_matches'; readonly reason: string };

/**
 * Replaces a piece of a text. Line ends of any kind match each other; what is put in takes the text's own kind, or in a
 * mixed text the kind of the piece that it replaces. All else stays byte for byte.
 */
export function replaceText(text: string, oldText: string, newText: string, replaceAll: boolean): Replacement {
  if (withNewline(oldText, 'lf') === withNewline(newText, 'lf')) {
    return { ok: false, code: 'no_change', reason: 'The old and the new text are the same.' };
  }
  const matches = [...text.matchAll(anyNewline(oldText))];
  if (matches.length === 0) {
    return { ok: false, code: 'no_match', reason: 'The old text does not occur in the file.' };
  }
  if (matches.length > 1 && !replaceAll) {
    const reason = `The old text occurs ${matches.length} times; give more of its surroundings or set replaceAll.`;
    return { ok: false, code: 'multiple_matches', reason };
  }
  const { newline } = styleOf(text);
  let result = '';
  let from = 0;
  for (const match of matches) {
    const own = newline === 'mixed' ? (styleOf(match[0]).newline ?? 'lf') : newline;
    result += text.slice(from, match.index) + withNewline(newText, own);
    from = match.index + match[0].length;
  }
  return { ok: true, text: result + text.slice(from), count: matches.length };
}

function anyNewline(literal: string): RegExp {
  const lines = literal.split(/\r\n|\n|\r/).map((line) => line.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  return new RegExp(lines.join('(?:\\r\\n|\\n|\\r)'), 'g');
}
