import { COMMIT_VERSION, type Commit, checkEvent, commitSchema, type StoredCommit } from '@rookery/protocol';
import { upcast } from './upcast.ts';

/** A message of the stream, before anything is known about it. */
export interface RawMessage {
  streamSeq: number;
  subject: string;
  data: Uint8Array;
  /** True where the header `Rookery-Commit: 1` is there. */
  isCommit: boolean;
}

export type Decoded =
  | { ok: true; stored: StoredCommit }
  /** foreign: none of ours; damaged: ours and unreadable; too_new: written by a newer program. */
  | { ok: false; reason: 'foreign' | 'damaged' | 'too_new'; detail: string };

const text = new TextDecoder('utf-8', { fatal: true });

function parseBody(data: Uint8Array): { ok: true; body: Record<string, unknown> } | { ok: false; detail: string } {
  try {
    const body: unknown = JSON.parse(text.decode(data));
    if (body !== null && typeof body === 'object' && !Array.isArray(body)) {
      return { ok: true, body: body as Record<string, unknown> };
    }
    return { ok: false, detail: 'not an object' };
  } catch {
    return { ok: false, detail: 'not JSON' };
  }
}

/** Reads a message of the stream; never throws. Unknown event types are damage unless the version is newer. */
export function decodeCommit(message: RawMessage): Decoded {
  if (!message.isCommit) return { ok: false, reason: 'foreign', detail: 'no commit header' };
  const parsed = parseBody(message.data);
  if (!parsed.ok) return { ok: false, reason: 'damaged', detail: parsed.detail };
  const version = parsed.body.v;
  if (typeof version === 'number' && version > COMMIT_VERSION) {
    return { ok: false, reason: 'too_new', detail: `version ${version}` };
  }
  const commit = commitSchema.safeParse(upcast(parsed.body));
  if (!commit.success) {
    const [issue] = commit.error.issues;
    return { ok: false, reason: 'damaged', detail: `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}` };
  }
  for (const event of commit.data.events) {
    const check = checkEvent(event);
    if (!check.ok) return { ok: false, reason: 'damaged', detail: check.issue };
  }
  return { ok: true, stored: { streamSeq: message.streamSeq, subject: message.subject, commit: commit.data } };
}

/** Reads a message that a read model has accepted before: its shape is known to be good. */
export function decodeTrusted(message: Pick<RawMessage, 'streamSeq' | 'subject' | 'data'>): StoredCommit {
  const body = JSON.parse(text.decode(message.data)) as Record<string, unknown>;
  return { streamSeq: message.streamSeq, subject: message.subject, commit: upcast(body) as Commit };
}
