import type { DeliveryView, OutboxStatus } from '@rookery/kernel';
import type { Db } from './model.ts';

/** The channel that this service has; an account of it is a hook's name. */
export const WEBHOOK = 'webhook';

/** One chat of a channel's account. */
export interface Chat {
  world: string;
  account: string;
  chat: string;
}

/** What is known of a delivery id of a webhook. */
export function loadDelivery(db: Db, { world, account, chat }: Chat, deliveryId: string): DeliveryView {
  const rows = db
    .prepare(
      `SELECT chat_id, body_sha256 FROM channel_deliveries
       WHERE world = ? AND channel_id = ? AND account_id = ? AND delivery_id = ?`,
    )
    .all(world, WEBHOOK, account, deliveryId) as { chat_id: string; body_sha256: string }[];
  return {
    bodySha256: rows.find((row) => row.chat_id === chat)?.body_sha256 ?? null,
    usedInOtherChat: rows.some((row) => row.chat_id !== chat),
  };
}

/** A delivery whose turn is not in the journal yet. */
export interface OpenDelivery {
  world: string;
  agentId: string;
  account: string;
  chat: string;
  deliveryId: string;
  threadId: string;
  runId: string;
  providerId: string;
  modelId: string;
  /** JSON of the content, or of its reference into the object store; null = still to be loaded. */
  contentJson: string | null;
}

/** Deliveries without a turn, oldest first, without their contents. */
export function loadOpenDeliveries(db: Db): OpenDelivery[] {
  return db
    .prepare(
      `SELECT world, agent_id AS agentId, account_id AS account, chat_id AS chat, delivery_id AS deliveryId,
        thread_id AS threadId, run_id AS runId, provider_id AS providerId, model_id AS modelId, NULL AS contentJson
       FROM channel_deliveries WHERE submitted_at IS NULL AND failed_code IS NULL ORDER BY received_seq`,
    )
    .all() as OpenDelivery[];
}

/** True where a delivery has no turn and may still get one. */
export function isOpenDelivery(db: Db, runId: string): boolean {
  const sql = 'SELECT 1 FROM channel_deliveries WHERE run_id = ? AND submitted_at IS NULL AND failed_code IS NULL';
  return db.prepare(sql).get(runId) !== undefined;
}

/** Content of a delivery as JSON, null where its turn is in the journal. */
export function loadContent(db: Db, runId: string): string | null {
  const row = db.prepare('SELECT content_json FROM channel_deliveries WHERE run_id = ?').get(runId);
  return (row as { content_json: string | null } | undefined)?.content_json ?? null;
}

/** True where the thread of a chat is in the journal. */
export function hasThread(db: Db, threadId: string): boolean {
  const sql = 'SELECT 1 FROM channel_bindings WHERE thread_id = ? AND branch_id IS NOT NULL';
  return db.prepare(sql).get(threadId) !== undefined;
}

/** An answer that is due. */
export interface DueAnswer {
  id: number;
  world: string;
  agentId: string;
  account: string;
  chat: string;
  deliveryId: string;
  threadId: string;
  turnId: string;
  runId: string;
  answerUrl: string;
  textJson: string | null;
  runStatus: string;
  reasonCode: string | null;
}

/** Ids and accounts of all answers that are due, oldest first. */
export function loadDue(db: Db): { id: number; account: string }[] {
  const sql = `SELECT id, account_id AS account FROM channel_outbox WHERE status = 'pending' ORDER BY id`;
  return db.prepare(sql).all() as { id: number; account: string }[];
}

/** One due answer; undefined where it is closed meanwhile. */
export function loadDueAnswer(db: Db, id: number): DueAnswer | undefined {
  return db
    .prepare(
      `SELECT id, world, agent_id AS agentId, account_id AS account, chat_id AS chat, delivery_id AS deliveryId,
        thread_id AS threadId, turn_id AS turnId, run_id AS runId, answer_url AS answerUrl, text_json AS textJson,
        run_status AS runStatus, reason_code AS reasonCode
       FROM channel_outbox WHERE id = ? AND status = 'pending'`,
    )
    .get(id) as DueAnswer | undefined;
}

/** Status of a run's answer, null where it has none. */
export function loadOutboxStatus(db: Db, runId: string): OutboxStatus | null {
  const row = db.prepare('SELECT status FROM channel_outbox WHERE run_id = ?').get(runId);
  return (row as { status: OutboxStatus } | undefined)?.status ?? null;
}
