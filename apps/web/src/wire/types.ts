import type {
  WireEvent as ProtocolEvent,
  RunStatus,
  Item as StoredItem,
  ProcessRecord as StoredProcess,
} from '@rookery/protocol';

export type { RunStatus, Thread, Usage } from '@rookery/protocol';

/** Shapes that the gateway sends, as the page sees them: blobs are back in place, so every long text is a string. */

export interface Item extends Omit<StoredItem, 'content'> {
  content: string;
}

/** A run as turn.list gives it. */
export interface RunView {
  id: string;
  turnId: string;
  providerId: string;
  modelId: string;
  executionPolicy: string;
  status: RunStatus;
  createdAt: string;
  startedAt: string | null;
  modelCalls: number;
  compactions: number;
  settledAt: string | null;
  reasonCode: string | null;
  items: Item[];
}

export interface TurnView {
  id: string;
  threadId: string;
  branchId: string;
  ordinal: number;
  status: RunStatus;
  createdAt: string;
  updatedAt: string;
  runs: RunView[];
}

export type ProcessRecord = Omit<StoredProcess, 'command' | 'stdout' | 'stderr' | 'output'> & {
  command: string;
  output: string;
};

export interface FileChange {
  toolCallItemId: string;
  path: string;
  operation: 'write' | 'edit';
  status: string;
  diff?: string;
  additions?: number;
  deletions?: number;
}

export type ProcessPage = Pick<
  ProcessRecord,
  'processId' | 'state' | 'exitCode' | 'cwd' | 'pid' | 'startedAt' | 'finishedAt' | 'output' | 'truncated' | 'errorCode'
> & { cursor: number; nextCursor: number; hasMore: boolean };

export interface Provider {
  id: string;
  displayName: string;
  origin: 'builtin' | 'custom';
  configured: boolean;
  credentialConfigured: boolean;
  health: 'unknown' | 'ready' | 'error';
}

export interface Model {
  providerId: string;
  id: string;
  displayName: string;
  enabled: boolean;
  contextWindow: number;
}

export interface DiscoveredModel {
  id: string;
  displayName?: string;
  contextWindow?: number;
}

/** An event of a thread as it arrives; its payload was checked by the gateway and is read where it is used. */
export interface WireEvent extends ProtocolEvent {
  threadId: string;
}
