/** How the lines of a text end; null where it has only one line. */
export type Newline = 'lf' | 'crlf' | 'cr' | 'mixed' | null;

/** What a file keeps when its text changes. */
export interface TextStyle {
  readonly bom: boolean;
  readonly newline: Newline;
}

const BOM = '\u{feff}';
const NEWLINES = { lf: '\n', crlf: '\r\n', cr: '\r' } as const;

/** Reads byte order mark and line ends off a text. */
export function styleOf(text: string): TextStyle {
  const kinds = new Set<'lf' | 'crlf' | 'cr'>();
  for (const [end] of text.matchAll(/\r\n|\n|\r/g)) kinds.add(end === '\n' ? 'lf' : end === '\r' ? 'cr' : 'crlf');
  const [kind = null] = kinds;
  return { bom: text.startsWith(BOM), newline: kinds.size > 1 ? 'mixed' : kind };
}

/** Gives a new text the byte order mark and line ends of the file it replaces; a mixed file gets the text as it is. */
export function withStyle(text: string, style: TextStyle): string {
  const body = withNewline(text, style.newline);
  return style.bom && !body.startsWith(BOM) ? BOM + body : body;
}

/** Replaces every line end by one kind; leaves them alone where the kind is mixed or unknown. */
export function withNewline(text: string, newline: Newline): string {
  if (newline === null || newline === 'mixed') return text;
  return text.replace(/\r\n|\n|\r/g, NEWLINES[newline]);
}
