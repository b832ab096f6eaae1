/** Tables of channels.db, after the seed's schema. A channel is a kind (webhook), an account one of that kind (a hook's name). */
export const channelsDdl: readonly string[] = [
  // branch_id and created_at come with the thread, which follows the first delivery.
  `CREATE TABLE channel_bindings (
    world TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    chat_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    branch_id TEXT,
    owner_user_id TEXT,
    owner_username TEXT,
    created_at TEXT,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (world, channel_id, account_id, chat_id)
  ) STRICT`,
  'CREATE UNIQUE INDEX channel_bindings_thread_idx ON channel_bindings(thread_id, channel_id)',
  `CREATE TABLE channel_cursors (
    world TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    next_update_id INTEGER NOT NULL CHECK (next_update_id >= 0),
    updated_at TEXT NOT NULL,
    PRIMARY KEY (world, channel_id, account_id)
  ) STRICT`,
  // content_json is the text, or where it is long its blob reference; it goes when the turn is in the journal, or when
  // there will be none: then failed_code says why, with submitted_at NULL.
  `CREATE TABLE channel_deliveries (
    received_seq INTEGER PRIMARY KEY,
    world TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    chat_id TEXT NOT NULL,
    delivery_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    body_sha256 TEXT NOT NULL,
    content_json TEXT,
    thread_id TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    provider_id TEXT NOT NULL,
    model_id TEXT NOT NULL,
    received_at TEXT NOT NULL,
    submitted_at TEXT,
    failed_code TEXT,
    UNIQUE (world, channel_id, account_id, delivery_id, chat_id)
  ) STRICT`,
  'CREATE INDEX channel_deliveries_run_idx ON channel_deliveries(run_id)',
  `CREATE INDEX channel_deliveries_open_idx ON channel_deliveries(received_seq)
    WHERE submitted_at IS NULL AND failed_code IS NULL`,
  // A row is there from the delivery on (waiting), and due from the run's end on (pending).
  `CREATE TABLE channel_outbox (
    id INTEGER PRIMARY KEY,
    world TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    chat_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    delivery_id TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    run_id TEXT,
    answer_url TEXT NOT NULL,
    text_json TEXT,
    run_status TEXT,
    reason_code TEXT,
    status TEXT NOT NULL CHECK (status IN ('waiting', 'pending', 'sent', 'failed')),
    attempts INTEGER NOT NULL DEFAULT 0,
    last_error_code TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT`,
  `CREATE UNIQUE INDEX channel_outbox_run_idx ON channel_outbox(channel_id, account_id, run_id) WHERE run_id IS NOT NULL`,
  'CREATE INDEX channel_outbox_settle_idx ON channel_outbox(run_id)',
  `CREATE INDEX channel_outbox_due_idx ON channel_outbox(id) WHERE status = 'pending'`,
];
