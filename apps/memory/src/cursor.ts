import { AppError, canonicalSha256, type RpcParams } from '@rookery/protocol';

/** Where a page of the list ended: its last row's place in the order (updatedAt down, id up). */
export interface ListPosition {
  updatedAt: string;
  id: string;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

type Filter = Pick<RpcParams<'memory.list'>, 'scope' | 'kind' | 'state'>;
const filterMark = ({ scope, kind, state }: Filter): string => canonicalSha256({ scope, kind, state }).slice(0, 16);

export function encodeCursor(position: ListPosition, filter: Filter): string {
  const body = { v: 1, u: position.updatedAt, i: position.id, f: filterMark(filter) };
  return Buffer.from(JSON.stringify(body)).toString('base64url');
}

/** Reads a cursor of the same filter; INVALID_CURSOR for anything else. */
export function decodeCursor(cursor: string, filter: Filter): ListPosition {
  try {
    const { v, u, i, f } = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as Record<string, unknown>;
    if (v === 1 && isText(u) && isText(i) && f === filterMark(filter)) return { updatedAt: u, id: i };
  } catch {
    // Told below without the text.
  }
  throw new AppError('INVALID_CURSOR');
}
