import type { Commit, EventPayload } from '@rookery/protocol';

/** What one accepted request did to a memory. */
export interface MemoryReceipt {
  method: string;
  paramsSha256: string;
  revision: number;
}

/** One memory as its subject tells it. */
export interface MemoryState {
  /** 0 = never created. */
  revision: number;
  /** By clientRequestId. A state loaded for one request may hold only the receipt of that request. */
  receipts: ReadonlyMap<string, MemoryReceipt>;
}

export const noMemory: MemoryState = { revision: 0, receipts: new Map() };

/** The state after one more commit of the memory's subject; what it does not know leaves the state as it is. */
export function evolveMemory(state: MemoryState, commit: Commit): MemoryState {
  let { revision, receipts } = state;
  let accepted: EventPayload<'command.accepted'> | undefined;
  for (const event of commit.events) {
    if (event.type === 'command.accepted') accepted = event.payload as EventPayload<'command.accepted'>;
    if (event.type !== 'memory.created' && event.type !== 'memory.corrected') continue;
    revision = (event.payload as EventPayload<typeof event.type>).revision;
    if (accepted === undefined || accepted.clientRequestId === null) continue;
    const { method, clientRequestId, paramsSha256 } = accepted;
    receipts = new Map(receipts).set(clientRequestId, { method, paramsSha256, revision });
  }
  return { revision, receipts };
}
