import type { KnownSubmission, ThreadState } from '@rookery/kernel';
import {
  type Authorization,
  formatSubject,
  type Item,
  type RunConfig,
  type Thread,
  type Workspace,
} from '@rookery/protocol';
import type { Reader } from '@rookery/read-model';

/** Reads of agent.db. Each is called inside one read transaction. */

interface ThreadRow {
  id: string;
  world: string;
  title: string | null;
  default_branch_id: string;
  workspace_json: string | null;
  created_at: string;
  updated_at: string;
  archived_at: string | null;
  params_sha256: string | null;
}

const toThread = (row: ThreadRow): Thread => ({
  id: row.id,
  title: row.title,
  defaultBranchId: row.default_branch_id,
  workspace: row.workspace_json === null ? null : (JSON.parse(row.workspace_json) as Workspace),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  archivedAt: row.archived_at,
});

/** A thread as decisions need it; null where it is not there (or not in that world). */
export function threadState(db: Reader<unknown>, world: string, threadId: string): ThreadState | null {
  const row = db.prepare('SELECT * FROM threads WHERE id = ? AND world = ?').get(threadId, world) as
    | ThreadRow
    | undefined;
  if (row === undefined) return null;
  const open = db
    .prepare(`SELECT count(*) AS n FROM turns WHERE thread_id = ? AND status IN ('queued', 'running')`)
    .get(threadId) as { n: number };
  const last = db
    .prepare('SELECT max(ordinal) AS ordinal FROM turns WHERE branch_id = ?')
    .get(row.default_branch_id) as { ordinal: number | null };
  return {
    thread: toThread(row),
    paramsSha256: row.params_sha256 ?? '',
    unsettledTurns: open.n,
    lastOrdinal: last.ordinal ?? 0,
    damaged: db.damageOf(formatSubject({ kind: 'turns', world, threadId })) !== null,
  };
}

/** The submission that a client request led to. */
export function knownSubmission(
  db: Reader<unknown>,
  threadId: string,
  clientRequestId: string,
): KnownSubmission | null {
  const row = db
    .prepare('SELECT id, turn_id, params_sha256 FROM runs WHERE thread_id = ? AND client_request_id = ?')
    .get(threadId, clientRequestId) as { id: string; turn_id: string; params_sha256: string | null } | undefined;
  return row === undefined ? null : { runId: row.id, turnId: row.turn_id, paramsSha256: row.params_sha256 ?? '' };
}

export interface RunRow {
  runId: string;
  turnId: string;
  threadId: string;
  branchId: string;
  world: string;
  agentId: string;
  providerId: string;
  modelId: string;
  status: string;
  holder: string | null;
  epoch: number;
  clientRequestId: string | null;
  authorization: Authorization | null;
}

const RUN_COLUMNS = `r.id AS runId, r.turn_id AS turnId, r.thread_id AS threadId, r.branch_id AS branchId, r.world,
  r.agent_id AS agentId, r.provider_id AS providerId, r.model_id AS modelId, r.status, r.holder, r.epoch,
  r.client_request_id AS clientRequestId, r.authorization_json AS authorizationJson`;

const toRun = (row: RunRow & { authorizationJson: string | null }): RunRow => {
  const { authorizationJson, ...run } = row;
  return {
    ...run,
    authorization: authorizationJson === null ? null : (JSON.parse(authorizationJson) as Authorization),
  };
};

/** One run by id. */
export function runById(db: Reader<unknown>, runId: string): RunRow | null {
  const row = db.prepare(`SELECT ${RUN_COLUMNS} FROM runs r WHERE r.id = ?`).get(runId) as
    | (RunRow & { authorizationJson: string | null })
    | undefined;
  return row === undefined ? null : toRun(row);
}

/** Queued runs whose thread has no earlier unsettled turn, oldest first: those that may be claimed. */
export function startableRuns(db: Reader<unknown>, limit: number, threadId?: string): RunRow[] {
  const rows = db
    .prepare(
      `SELECT ${RUN_COLUMNS} FROM runs r JOIN turns t ON t.id = r.turn_id
       WHERE r.status = 'queued' AND (? IS NULL OR r.thread_id = ?) AND NOT EXISTS (
         SELECT 1 FROM turns e WHERE e.thread_id = r.thread_id AND e.status IN ('queued', 'running')
           AND e.submitted_seq < t.submitted_seq)
       ORDER BY t.submitted_seq LIMIT ?`,
    )
    .all(threadId ?? null, threadId ?? null, limit) as (RunRow & { authorizationJson: string | null })[];
  return rows.map(toRun);
}

/** Claimed, unsettled runs of others than this instance. */
export function runsOfOthers(db: Reader<unknown>, instance: string): RunRow[] {
  // Without the index the planner would go through all runs that ever were, for the sake of their order.
  const rows = db
    .prepare(
      `SELECT ${RUN_COLUMNS} FROM runs r INDEXED BY runs_holder_idx WHERE r.status = 'running' AND r.holder IS NOT ?`,
    )
    .all(instance) as (RunRow & { authorizationJson: string | null })[];
  return rows.map(toRun);
}

export interface LeftSteer {
  itemId: string;
  runId: string;
  threadId: string;
  branchId: string;
  world: string;
  agentId: string;
  content: string;
  contentBlob: string | null;
  followUpRequestId: string;
}

/** Steers that no model call has seen and that have no turn of their own yet. */
export function leftSteers(db: Reader<unknown>, threadId?: string): LeftSteer[] {
  return db
    .prepare(
      `SELECT item_id AS itemId, run_id AS runId, thread_id AS threadId, branch_id AS branchId, world, agent_id AS agentId,
         content, content_blob AS contentBlob, follow_up_request_id AS followUpRequestId
       FROM pending_steers WHERE left_at IS NOT NULL AND (? IS NULL OR thread_id = ?) ORDER BY received_seq`,
    )
    .all(threadId ?? null, threadId ?? null) as LeftSteer[];
}

/** Words of a steer that was received, or the SHA-256 of long ones; null where there is none with that id. */
export function steerContent(db: Reader<unknown>, itemId: string): string | null {
  const row = db.prepare('SELECT content, content_blob FROM items WHERE id = ?').get(itemId) as
    | { content: string; content_blob: string | null }
    | undefined;
  return row === undefined ? null : (row.content_blob ?? row.content);
}

/** What a run was submitted with. */
export function runConfigOf(db: Reader<unknown>, runId: string): RunConfig | null {
  const row = db.prepare('SELECT config_json FROM run_configs WHERE run_id = ?').get(runId) as
    | { config_json: string }
    | undefined;
  return row === undefined ? null : (JSON.parse(row.config_json) as RunConfig);
}

interface ItemRow {
  id: string;
  turn_id: string;
  run_id: string;
  ordinal: number;
  kind: Item['kind'];
  role: Item['role'];
  status: Item['status'];
  content: string;
  content_blob: string | null;
  content_bytes: number | null;
  created_at: string;
  updated_at: string;
  data_json: string;
}

const toItem = (row: ItemRow): Item => ({
  id: row.id,
  turnId: row.turn_id,
  runId: row.run_id,
  ordinal: row.ordinal,
  kind: row.kind,
  role: row.role,
  status: row.status,
  content:
    row.content_blob === null || row.content_bytes === null
      ? row.content
      : { blob: row.content_blob, bytes: row.content_bytes, head: row.content },
  data: JSON.parse(row.data_json) as Record<string, unknown>,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

/** Items of one turn in order. */
export function itemsOfTurn(db: Reader<unknown>, turnId: string): Item[] {
  return (db.prepare('SELECT * FROM items WHERE turn_id = ? ORDER BY ordinal').all(turnId) as ItemRow[]).map(toItem);
}

/** Newest settled turns of a branch before one of its turns, newest first. */
export function earlierTurns(
  db: Reader<unknown>,
  turnId: string,
  limit: number,
  beforeOrdinal?: number,
): { id: string; ordinal: number }[] {
  return db
    .prepare(
      `SELECT t.id, t.ordinal FROM turns t JOIN turns own ON own.id = ? AND own.branch_id = t.branch_id
       WHERE t.ordinal < coalesce(?, own.ordinal) AND t.status NOT IN ('queued', 'running')
       ORDER BY t.ordinal DESC LIMIT ?`,
    )
    .all(turnId, beforeOrdinal ?? null, limit) as { id: string; ordinal: number }[];
}
