import { AppError, canonicalJson, sha256Hex } from '@rookery/protocol';

const CHECK_CHARS = 16;

const check = (scope: unknown, body: string): string =>
  sha256Hex(`${canonicalJson(scope)}\n${body}`).slice(0, CHECK_CHARS);

/** Where the next page begins, bound to the list that it was made for. */
export function writeCursor(scope: unknown, position: (string | number)[]): string {
  const body = Buffer.from(JSON.stringify(position)).toString('base64url');
  return `${body}.${check(scope, body)}`;
}

/** The position in a cursor; INVALID_CURSOR for one of another list or of no list. `types` are those of its parts. */
export function readCursor(
  scope: unknown,
  cursor: string,
  types: readonly ('string' | 'number')[],
): (string | number)[] {
  const [body = '', mark, ...rest] = cursor.split('.');
  if (rest.length > 0 || mark !== check(scope, body)) throw new AppError('INVALID_CURSOR');
  try {
    const position: unknown = JSON.parse(Buffer.from(body, 'base64url').toString());
    const fits = Array.isArray(position) && position.length === types.length;
    if (fits && position.every((part, index) => typeof part === types[index])) return position;
  } catch {
    // Told below.
  }
  throw new AppError('INVALID_CURSOR');
}
