import type { WireEvent } from '@rookery/protocol';

/** A conversation event as the gateway keeps it: encoded once, completed for each kind of client. */
export interface HubEvent {
  seq: number;
  type: string;
  threadId: string | null;
  /** Command that led to it. */
  cause: string;
  /** JSON text of the event without its closing brace. */
  body: string;
}

export function hubEvent(event: WireEvent, cause: string): HubEvent {
  return {
    seq: event.seq,
    type: event.type,
    threadId: event.threadId,
    cause,
    body: JSON.stringify(event).slice(0, -1),
  };
}

/** The event with its exact ten keys. */
export function eventJson(event: HubEvent): string {
  return `${event.body}}`;
}

/** The event with the seq of the one before it under the same filter. */
export function eventJsonAfter(event: HubEvent, prevSeq: number): string {
  return `${event.body},"prevSeq":${prevSeq}}`;
}

/** A JSON-RPC notification, ready for any number of sockets. */
export function notificationFrame(json: string): Buffer {
  return Buffer.from(`{"jsonrpc":"2.0","method":"event","params":${json}}`);
}
