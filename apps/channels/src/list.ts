import type { ConfigValue } from '@rookery/protocol';
import type { Db } from './model.ts';
import { WEBHOOK } from './views.ts';

/** Bindings that are listed of a channel: those that changed last. */
const BINDINGS = 100;

interface ChannelBinding {
  chat: string;
  threadId: string;
  branchId: string | null;
  createdAt: string | null;
  updatedAt: string;
}

export interface ChannelEntry {
  kind: 'webhook';
  name: string;
  enabled: boolean;
  answerUrl: string | null;
  providerId: string;
  modelId: string;
  bindings: ChannelBinding[];
  /** Deliveries that are acknowledged and have no turn yet. */
  openDeliveries: number;
  /** Deliveries that the agents refused for good, and why the last one was. */
  refusedDeliveries: { count: number; lastErrorCode: string | null };
  outbox: { waiting: number; pending: number; sent: number; failed: number };
}

function countOutbox(db: Db, world: string, account: string): ChannelEntry['outbox'] {
  const rows = db
    .prepare(
      `SELECT status, COUNT(*) AS count FROM channel_outbox
       WHERE channel_id = ? AND world = ? AND account_id = ? GROUP BY status`,
    )
    .all(WEBHOOK, world, account) as { status: keyof ChannelEntry['outbox']; count: number }[];
  const count = (status: keyof ChannelEntry['outbox']) => rows.find((row) => row.status === status)?.count ?? 0;
  return { waiting: count('waiting'), pending: count('pending'), sent: count('sent'), failed: count('failed') };
}

/** All configured channels of a world with what became of their messages; never their secrets. */
export function listChannels(db: Db, world: string, config: ConfigValue<'channels'>): ChannelEntry[] {
  const names = Object.keys(config.channels).sort();
  return names.flatMap((name) => {
    const channel = config.channels[name];
    if (channel === undefined) return [];
    const bindings = db
      .prepare(
        `SELECT chat_id AS chat, thread_id AS threadId, branch_id AS branchId, created_at AS createdAt,
          updated_at AS updatedAt
         FROM channel_bindings WHERE world = ? AND channel_id = ? AND account_id = ?
         ORDER BY updated_at DESC, chat_id LIMIT ?`,
      )
      .all(world, WEBHOOK, name, BINDINGS) as ChannelBinding[];
    const open = db
      .prepare(
        `SELECT COUNT(*) AS count FROM channel_deliveries
         WHERE submitted_at IS NULL AND failed_code IS NULL AND world = ? AND channel_id = ? AND account_id = ?`,
      )
      .get(world, WEBHOOK, name) as { count: number };
    // The bare column of a row with max() is that row's.
    const refused = db
      .prepare(
        `SELECT COUNT(*) AS count, failed_code AS lastErrorCode, MAX(received_seq) FROM channel_deliveries
         WHERE submitted_at IS NULL AND failed_code IS NOT NULL AND world = ? AND channel_id = ? AND account_id = ?`,
      )
      .get(world, WEBHOOK, name) as { count: number; lastErrorCode: string | null };
    const refusedDeliveries = { count: refused.count, lastErrorCode: refused.lastErrorCode };
    const { kind, enabled, answerUrl, providerId, modelId } = channel;
    const outbox = countOutbox(db, world, name);
    const settings = { kind, name, enabled, answerUrl, providerId, modelId };
    return [{ ...settings, bindings, openDeliveries: open.count, refusedDeliveries, outbox }];
  });
}
