import { headers, type MsgHdrs } from '@nats-io/transport-node';
import { COMMIT_HEADER } from '@rookery/protocol';

/** Headers of a checked, idempotent publication of a commit, for code that publishes without our libraries. */
export function commitHeaders(id: string, expectedLastSeq: number): MsgHdrs {
  const out = headers();
  out.set('Nats-Msg-Id', id);
  out.set('Nats-Expected-Last-Subject-Sequence', String(expectedLastSeq));
  out.set(COMMIT_HEADER, '1');
  return out;
}

/** The header alone, for messages whose place in the journal nothing depends on. */
export function commitHeader(): MsgHdrs {
  const out = headers();
  out.set(COMMIT_HEADER, '1');
  return out;
}
