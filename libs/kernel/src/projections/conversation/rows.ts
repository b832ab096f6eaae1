import type { BlobRef, Item, ItemStatus, LongText, RunStatus, Thread, Turn } from '@rookery/protocol';

/** Rows of the conversation read model as a query gives them. */

interface Owned {
  agent_id: string;
  world: string;
}

export interface ThreadRow extends Owned {
  id: string;
  title: string | null;
  title_source: 'provisional' | 'user' | 'auto' | null;
  default_branch_id: string;
  created_at: string;
  updated_at: string;
  archived_at: string | null;
  client_request_id: string | null;
  params_sha256: string | null;
  workspace_json: string | null;
}

export interface BranchRow extends Owned {
  id: string;
  thread_id: string;
  created_at: string;
  is_default: 0 | 1;
}

export interface TurnRow extends Owned {
  id: string;
  thread_id: string;
  branch_id: string;
  ordinal: number;
  status: RunStatus;
  submitted_seq: number;
  created_at: string;
  updated_at: string;
}

export interface RunRow extends Owned {
  id: string;
  turn_id: string;
  thread_id: string;
  branch_id: string;
  provider_id: string;
  model_id: string;
  status: RunStatus;
  created_at: string;
  started_at: string | null;
  settled_at: string | null;
  reason_code: string | null;
  client_request_id: string | null;
  params_sha256: string | null;
  authorization_json: string | null;
  execution_policy: string;
  holder: string | null;
  epoch: number;
  last_stream_seq: number;
}

export interface RunConfigRow extends Owned {
  run_id: string;
  config_json: string;
}

/** A text that may live in the object store: then `content` is its head. */
export interface LongTextColumns {
  content: string;
  content_blob: string | null;
  content_bytes: number | null;
}

export interface ItemRow extends Owned, LongTextColumns {
  id: string;
  turn_id: string;
  run_id: string;
  thread_id: string;
  ordinal: number;
  kind: Item['kind'];
  role: Item['role'];
  status: ItemStatus;
  params_sha256: string | null;
  created_at: string;
  updated_at: string;
  data_json: string;
}

export interface StreamChunkRow extends Owned {
  item_id: string;
  ordinal: number;
  text: string;
}

export interface PendingSteerRow extends Owned, LongTextColumns {
  item_id: string;
  run_id: string;
  turn_id: string;
  branch_id: string;
  thread_id: string;
  client_request_id: string | null;
  follow_up_request_id: string;
  received_seq: number;
  left_at: string | null;
}

export interface ContextRevisionRow extends Owned {
  run_id: string;
  revision: number;
  record_json: string;
}

export interface ProcessSessionRow extends Owned {
  process_id: string;
  run_id: string;
  item_id: string;
  thread_id: string;
  state: 'running' | 'exited' | 'terminated' | 'unknown';
  background: 0 | 1;
  record_json: string;
}

export interface ModelCallRow extends Owned {
  run_id: string;
  call_ordinal: number;
  step_ordinal: number | null;
  input_json: string;
  prepared_at: string;
  purpose: 'execution' | 'compression' | 'completion_check';
  outcome: 'completed' | 'failed' | 'cancelled' | null;
  reason_code: string | null;
  response_model_id: string | null;
  request_id: string | null;
  usage_json: string | null;
  activity_date: string | null;
  finished_at: string | null;
}

export interface ModelUsageRow extends Owned {
  run_id: string;
  call_ordinal: number;
  thread_id: string;
  turn_id: string;
  step_ordinal: number | null;
  provider_id: string;
  model_id: string;
  input_tokens: number;
  cached_input_tokens: number | null;
  output_tokens: number;
  reasoning_output_tokens: number | null;
  total_tokens: number;
  activity_date: string;
  completed_at: string;
}

export interface FileChangeRow extends Owned {
  tool_call_item_id: string;
  record_json: string;
}

/** Tables of the conversation read model, in the form that a typed query builder takes. */
export interface ConversationTables {
  threads: ThreadRow;
  branches: BranchRow;
  turns: TurnRow;
  runs: RunRow;
  run_configs: RunConfigRow;
  items: ItemRow;
  stream_chunks: StreamChunkRow;
  pending_steers: PendingSteerRow;
  context_revisions: ContextRevisionRow;
  process_sessions: ProcessSessionRow;
  model_calls: ModelCallRow;
  model_usages: ModelUsageRow;
  file_changes: FileChangeRow;
}

/** Columns for a text that may be a reference into the object store. */
export function longTextColumns(text: LongText): LongTextColumns & Record<string, string | number | null> {
  if (typeof text === 'string') return { content: text, content_blob: null, content_bytes: null };
  return { content: text.head, content_blob: text.blob, content_bytes: text.bytes };
}

/** The text, or the reference into the object store, that a row holds. */
export function longTextOf(row: LongTextColumns): LongText {
  if (row.content_blob === null) return row.content;
  return { blob: row.content_blob, bytes: row.content_bytes ?? 0, head: row.content } satisfies BlobRef;
}

/** The thread of a row, as it stands on the wire. */
export function threadOf(row: ThreadRow): Thread {
  return {
    id: row.id,
    title: row.title,
    defaultBranchId: row.default_branch_id,
    workspace: row.workspace_json === null ? null : JSON.parse(row.workspace_json),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    archivedAt: row.archived_at,
  };
}

/** The turn of a row, as it stands on the wire. */
export function turnOf(row: TurnRow): Turn {
  return {
    id: row.id,
    threadId: row.thread_id,
    branchId: row.branch_id,
    ordinal: row.ordinal,
    status: row.status,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** The item of a row; `streamed` is the text of its stream_chunks while it still streams. */
export function itemOf(row: ItemRow, streamed = ''): Item {
  return {
    id: row.id,
    turnId: row.turn_id,
    runId: row.run_id,
    ordinal: row.ordinal,
    kind: row.kind,
    role: row.role,
    status: row.status,
    content: streamed === '' ? longTextOf(row) : row.content + streamed,
    data: JSON.parse(row.data_json),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
