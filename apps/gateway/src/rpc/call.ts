import type { Principal } from '../auth/principal.ts';

/** The journal position that a caller's own acknowledged commands have reached. */
export class SeenSeq {
  #seq = 0;

  note(seq: number | undefined): void {
    if (seq !== undefined && seq > this.#seq) this.#seq = seq;
  }

  get seq(): number {
    return this.#seq;
  }
}

/** What a method knows of the request that it serves. */
export interface RpcCall {
  protocol: number;
  principal: Principal;
  seen: SeenSeq;
  /** Announces a command before it is sent: events that it causes wait until its reply is written. */
  announce(commandId: string): void;
  /** The live events of this connection; null for a stateless POST. */
  subscription: Subscription | null;
}

export interface Subscription {
  /** Changes the filter of this connection; gives the seq of the last event before that matches it. */
  change(filter: import('@rookery/protocol').EventFilter | null): Promise<number>;
}
