import type { Thread } from '@rookery/protocol';

/** What decisions about a thread need to know, as a read model has applied it. */
export interface ThreadState {
  thread: Thread;
  paramsSha256: string;
  /** Turns that are queued or running. */
  unsettledTurns: number;
  /** Ordinal of the branch's last turn, 0 = none. */
  lastOrdinal: number;
  damaged: boolean;
}

/** An earlier submission with the same client request. */
export interface KnownSubmission {
  turnId: string;
  runId: string;
  paramsSha256: string;
}

/** What a retry is compared with. */
export interface AcceptedCommand {
  method: string;
  clientRequestId: string | null;
  paramsSha256: string;
}
