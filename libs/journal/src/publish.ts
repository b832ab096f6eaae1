import { headers } from '@nats-io/transport-node';
import { type Bus, busError, classifyFailure, transientApiCodes } from '@rookery/bus';
import { AppError, COMMIT_HEADER } from '@rookery/protocol';
import type { AppendRequest } from './append.ts';

const WRONG_LAST_SEQUENCE = 10071;
/** Insufficient resources, maximum bytes, storage exceeded, no space. */
const NO_SPACE = new Set([10023, 10028, 10047, 10077, 10118, 10122]);

interface ServerError {
  code: number;
  err_code?: number;
  description?: string;
}

/** What one attempt says. */
export type Publish =
  | { kind: 'stored'; seq: number; duplicate: boolean }
  | { kind: 'wrong-sequence'; lastSeq: number }
  | { kind: 'transient' | 'ambiguous'; cause: unknown }
  /** This attempt stored nothing, and another one would not either. */
  | { kind: 'refused'; cause: AppError };

/** One checked, idempotent publication of a commit. */
export async function publish(bus: Bus, request: AppendRequest, data: Uint8Array): Promise<Publish> {
  const header = headers();
  header.set('Nats-Msg-Id', request.commit.id);
  header.set('Nats-Expected-Last-Subject-Sequence', String(request.expected));
  header.set(COMMIT_HEADER, '1');
  let ack: { seq?: number; duplicate?: boolean; error?: ServerError };
  try {
    const message = await bus.nc.request(request.subject, data, { headers: header, timeout: bus.publishTimeoutMs });
    ack = message.json();
  } catch (cause) {
    const error = busError(cause);
    if (error.code === 'REQUEST_TOO_LARGE') {
      // The limit of a commit is half of the server's default: this server takes less.
      const details = { bytes: data.length, serverLimit: bus.nc.info?.max_payload };
      return { kind: 'refused', cause: new AppError('COMMIT_TOO_LARGE', { details }) };
    }
    switch (classifyFailure(cause)) {
      case 'permission':
        return { kind: 'refused', cause: error };
      case 'no-responders':
      case 'not-sent':
        return { kind: 'transient', cause };
      case 'ambiguous':
        return { kind: 'ambiguous', cause };
    }
  }
  if (ack.error === undefined) return { kind: 'stored', seq: ack.seq ?? 0, duplicate: ack.duplicate === true };
  const code = ack.error.err_code ?? 0;
  if (code === WRONG_LAST_SEQUENCE) {
    const named = /(\d+)\s*$/.exec(ack.error.description ?? '')?.[1];
    return { kind: 'wrong-sequence', lastSeq: Number.parseInt(named ?? '0', 10) };
  }
  // Before the status: some of these are 503 as well, and do not pass by themselves.
  if (NO_SPACE.has(code)) return { kind: 'refused', cause: new AppError('STORAGE_LOW', { details: { server: code } }) };
  if (transientApiCodes.has(code) || ack.error.code === 503) return { kind: 'transient', cause: ack.error };
  return { kind: 'refused', cause: new AppError('JOURNAL_UNAVAILABLE', { details: { server: code } }) };
}
