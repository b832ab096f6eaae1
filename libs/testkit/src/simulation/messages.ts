import { headers as emptyHeaders, type MsgHdrs } from '@nats-io/transport-node';
import { JOURNAL } from '@rookery/protocol';
import { isCommit } from './server.ts';
import type { SimulatedMessage } from './stream.ts';

/** Headers of a stored message as a direct get gives them. */
export function directHeaders(message: SimulatedMessage, pending: number): MsgHdrs {
  const out = emptyHeaders();
  for (const [name, value] of Object.entries(message.headers)) out.set(name, value);
  out.set('Nats-Stream', JOURNAL);
  out.set('Nats-Subject', message.subject);
  out.set('Nats-Sequence', String(message.streamSeq));
  out.set('Nats-Num-Pending', String(pending));
  return out;
}

/** A stored message as a consumer hands it over. */
export function jsMessage(message: SimulatedMessage): object {
  const headers = emptyHeaders();
  for (const [name, value] of Object.entries(message.headers)) headers.set(name, value);
  return {
    seq: message.streamSeq,
    subject: message.subject,
    data: message.data,
    ...(isCommit(message) ? { headers } : {}),
  };
}
