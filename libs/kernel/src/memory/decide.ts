import { type CommitEvent, canonicalSha256, type EventPayload, type RpcParams, sha256Hex } from '@rookery/protocol';
import { type Refusal, refuse } from '../refusal.ts';
import type { MemoryReceipt, MemoryState } from './state.ts';

/** The item of the conversation that a memory cites. */
export type MemorySource = NonNullable<EventPayload<'memory.created'>['source']>;

export interface CreateMemory {
  memoryId: string;
  params: RpcParams<'memory.create'>;
  /** The cited item as found; null where none is cited, or where the one that is cited does not exist. */
  source: MemorySource | null;
  /** True where the same request id is known from another memory of the agent. */
  usedElsewhere: boolean;
}

export interface CorrectMemory {
  params: RpcParams<'memory.correct'>;
  usedElsewhere: boolean;
}

/** `append` writes and gives the revision it makes; `replay` is the answer that was given before. */
export type MemoryDecision =
  | { kind: 'append'; events: CommitEvent[]; revision: number }
  | { kind: 'replay'; revision: number }
  | Refusal;

type Method = 'memory.create' | 'memory.correct';

/** Digest of everything that a retry must repeat. */
export function memoryParamsSha256(params: RpcParams<Method>): string {
  return canonicalSha256(params);
}

function earlier(receipt: MemoryReceipt | undefined, method: Method, paramsSha256: string): MemoryDecision | null {
  if (receipt === undefined) return null;
  const same = receipt.method === method && receipt.paramsSha256 === paramsSha256;
  return same ? { kind: 'replay', revision: receipt.revision } : refuse('MEMORY_IDEMPOTENCY_CONFLICT');
}

const accepted = (method: Method, clientRequestId: string, paramsSha256: string): CommitEvent => ({
  type: 'command.accepted',
  payload: { method, clientRequestId, paramsSha256, authorization: null } satisfies EventPayload<'command.accepted'>,
});

/** Codes: MEMORY_IDEMPOTENCY_CONFLICT, MEMORY_SOURCE_UNAVAILABLE. */
export function decideCreateMemory(state: MemoryState, command: CreateMemory): MemoryDecision {
  const { params, memoryId, source } = command;
  const digest = memoryParamsSha256(params);
  const before = earlier(state.receipts.get(params.clientRequestId), 'memory.create', digest);
  if (before !== null) return before;
  // The subject is derived from the request id, so a memory there without its receipt is another request's.
  if (command.usedElsewhere || state.revision > 0) return refuse('MEMORY_IDEMPOTENCY_CONFLICT');
  if (params.source !== undefined && source === null) {
    return refuse('MEMORY_SOURCE_UNAVAILABLE', { itemId: params.source.itemId });
  }
  const created: EventPayload<'memory.created'> = {
    memoryId,
    kind: params.kind,
    scope: params.scope,
    content: params.content,
    contentSha256: sha256Hex(params.content),
    revision: 1,
    source,
  };
  return {
    kind: 'append',
    revision: 1,
    events: [accepted('memory.create', params.clientRequestId, digest), { type: 'memory.created', payload: created }],
  };
}

/** Codes: MEMORY_IDEMPOTENCY_CONFLICT, MEMORY_NOT_FOUND, MEMORY_REVISION_CONFLICT (details.revision is the current one). */
export function decideCorrectMemory(state: MemoryState, command: CorrectMemory): MemoryDecision {
  const { params } = command;
  const digest = memoryParamsSha256(params);
  const before = earlier(state.receipts.get(params.clientRequestId), 'memory.correct', digest);
  if (before !== null) return before;
  if (command.usedElsewhere) return refuse('MEMORY_IDEMPOTENCY_CONFLICT');
  if (state.revision === 0) return refuse('MEMORY_NOT_FOUND');
  if (state.revision !== params.expectedRevision) {
    return refuse('MEMORY_REVISION_CONFLICT', { revision: state.revision });
  }
  const revision = state.revision + 1;
  const corrected: EventPayload<'memory.corrected'> = {
    memoryId: params.memoryId,
    content: params.content,
    contentSha256: sha256Hex(params.content),
    revision,
  };
  return {
    kind: 'append',
    revision,
    events: [
      accepted('memory.correct', params.clientRequestId, digest),
      { type: 'memory.corrected', payload: corrected },
    ],
  };
}
