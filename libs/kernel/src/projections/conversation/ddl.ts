/**
 * Tables of the conversation. Every row says whose it is (`agent_id`, `world`).
 *
 * Where they go beyond the conversation domain's own tables: `thread_id` stands in runs, items and processes, so that
 * nothing is joined to find an owner; a long text is kept as its head with the SHA-256 and bytes of its blob beside it;
 * a client request id is unique within its thread, as the ids that are derived from it are.
 */

const owner = 'agent_id TEXT NOT NULL, world TEXT NOT NULL';

const threads = `CREATE TABLE threads (
  id TEXT PRIMARY KEY,
  ${owner},
  title TEXT,
  title_source TEXT CHECK (title_source IN ('provisional', 'user', 'auto')),
  default_branch_id TEXT NOT NULL UNIQUE,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  archived_at TEXT,
  client_request_id TEXT,
  params_sha256 TEXT,
  workspace_json TEXT
) STRICT`;

const branches = `CREATE TABLE branches (
  id TEXT PRIMARY KEY,
  ${owner},
  thread_id TEXT NOT NULL REFERENCES threads(id) ON DELETE CASCADE,
  created_at TEXT NOT NULL,
  is_default INTEGER NOT NULL CHECK (is_default IN (0, 1))
) STRICT`;

/** `submitted_seq` is the stream sequence of the submission: the order of the turns of a thread over all branches. */
const turns = `CREATE TABLE turns (
  id TEXT PRIMARY KEY,
  ${owner},
  thread_id TEXT NOT NULL REFERENCES threads(id) ON DELETE CASCADE,
  branch_id TEXT NOT NULL REFERENCES branches(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  status TEXT NOT NULL,
  submitted_seq INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE(branch_id, ordinal)
) STRICT`;

/** `last_stream_seq` is the last commit on the run's own subject, 0 before the claim; `epoch` is 0 until then too. */
const runs = `CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  ${owner},
  turn_id TEXT NOT NULL REFERENCES turns(id) ON DELETE CASCADE,
  thread_id TEXT NOT NULL,
  branch_id TEXT NOT NULL,
  provider_id TEXT NOT NULL,
  model_id TEXT NOT NULL,
  status TEXT NOT NULL,
  created_at TEXT NOT NULL,
  started_at TEXT,
  settled_at TEXT,
  reason_code TEXT,
  client_request_id TEXT,
  params_sha256 TEXT,
  authorization_json TEXT,
  execution_policy TEXT NOT NULL DEFAULT 'full_access',
  holder TEXT,
  epoch INTEGER NOT NULL DEFAULT 0,
  last_stream_seq INTEGER NOT NULL DEFAULT 0
) STRICT`;

const runConfigs = `CREATE TABLE run_configs (
  run_id TEXT PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE,
  ${owner},
  config_json TEXT NOT NULL
) STRICT`;

const items = `CREATE TABLE items (
  id TEXT PRIMARY KEY,
  ${owner},
  turn_id TEXT NOT NULL REFERENCES turns(id) ON DELETE CASCADE,
  run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  thread_id TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  kind TEXT NOT NULL,
  role TEXT,
  status TEXT NOT NULL,
  content TEXT NOT NULL,
  content_blob TEXT,
  content_bytes INTEGER,
  params_sha256 TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  data_json TEXT NOT NULL DEFAULT '{}',
  UNIQUE(run_id, ordinal),
  CHECK ((content_blob IS NULL) = (content_bytes IS NULL))
) STRICT`;

/** Text of messages that still stream, one row a delta; `ordinal` is the seq of its event. Gone once complete. */
const streamChunks = `CREATE TABLE stream_chunks (
  item_id TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  text TEXT NOT NULL,
  ${owner},
  PRIMARY KEY(item_id, ordinal)
) STRICT, WITHOUT ROWID`;

/** Steers of people. `left_at` is set once their run is settled without a model call that saw them. */
const pendingSteers = `CREATE TABLE pending_steers (
  item_id TEXT PRIMARY KEY,
  ${owner},
  run_id TEXT NOT NULL,
  turn_id TEXT NOT NULL,
  branch_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  content TEXT NOT NULL,
  content_blob TEXT,
  content_bytes INTEGER,
  client_request_id TEXT,
  follow_up_request_id TEXT NOT NULL,
  received_seq INTEGER NOT NULL,
  left_at TEXT
) STRICT`;

const contextRevisions = `CREATE TABLE context_revisions (
  run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  revision INTEGER NOT NULL CHECK (revision >= 1),
  ${owner},
  record_json TEXT NOT NULL,
  PRIMARY KEY(run_id, revision)
) STRICT`;

const processSessions = `CREATE TABLE process_sessions (
  process_id TEXT PRIMARY KEY,
  ${owner},
  run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  item_id TEXT NOT NULL REFERENCES items(id) ON DELETE CASCADE,
  thread_id TEXT NOT NULL,
  state TEXT NOT NULL,
  background INTEGER NOT NULL CHECK (background IN (0, 1)),
  record_json TEXT NOT NULL,
  UNIQUE(run_id, item_id)
) STRICT`;

/** `call_ordinal` of an execution is its step's ordinal: both of its events carry it. */
const modelCalls = `CREATE TABLE model_calls (
  run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  call_ordinal INTEGER NOT NULL CHECK (call_ordinal >= 1),
  ${owner},
  step_ordinal INTEGER CHECK (step_ordinal IS NULL OR step_ordinal >= 1),
  input_json TEXT NOT NULL,
  prepared_at TEXT NOT NULL,
  purpose TEXT NOT NULL DEFAULT 'execution' CHECK (purpose IN ('execution', 'compression', 'completion_check')),
  outcome TEXT CHECK (outcome IN ('completed', 'failed', 'cancelled')),
  reason_code TEXT,
  response_model_id TEXT,
  request_id TEXT,
  usage_json TEXT,
  activity_date TEXT,
  finished_at TEXT,
  PRIMARY KEY(run_id, call_ordinal),
  CHECK ((purpose = 'execution') = (step_ordinal IS NOT NULL)),
  CHECK (
    (outcome IS NULL AND reason_code IS NULL AND response_model_id IS NULL AND request_id IS NULL
      AND usage_json IS NULL AND activity_date IS NULL AND finished_at IS NULL)
    OR (outcome = 'completed' AND reason_code IS NULL AND finished_at IS NOT NULL)
    OR (outcome IN ('failed', 'cancelled') AND reason_code IS NOT NULL AND finished_at IS NOT NULL)
  ),
  CHECK (
    (usage_json IS NULL AND activity_date IS NULL)
    OR (outcome = 'completed' AND usage_json IS NOT NULL AND activity_date IS NOT NULL)
  )
) STRICT`;

const modelUsages = `CREATE TABLE model_usages (
  run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  call_ordinal INTEGER NOT NULL CHECK (call_ordinal >= 1),
  ${owner},
  thread_id TEXT NOT NULL REFERENCES threads(id) ON DELETE CASCADE,
  turn_id TEXT NOT NULL REFERENCES turns(id) ON DELETE CASCADE,
  step_ordinal INTEGER CHECK (step_ordinal IS NULL OR step_ordinal >= 1),
  provider_id TEXT NOT NULL,
  model_id TEXT NOT NULL,
  input_tokens INTEGER NOT NULL CHECK (input_tokens >= 0),
  cached_input_tokens INTEGER CHECK (cached_input_tokens >= 0),
  output_tokens INTEGER NOT NULL CHECK (output_tokens >= 0),
  reasoning_output_tokens INTEGER CHECK (reasoning_output_tokens >= 0),
  total_tokens INTEGER NOT NULL CHECK (total_tokens >= 0),
  activity_date TEXT NOT NULL,
  completed_at TEXT NOT NULL,
  PRIMARY KEY(run_id, call_ordinal),
  FOREIGN KEY(run_id, call_ordinal) REFERENCES model_calls(run_id, call_ordinal) ON DELETE CASCADE
) STRICT`;

const fileChanges = `CREATE TABLE file_changes (
  tool_call_item_id TEXT PRIMARY KEY REFERENCES items(id) ON DELETE CASCADE,
  ${owner},
  record_json TEXT NOT NULL
) STRICT`;

const indexes = [
  'CREATE UNIQUE INDEX threads_client_request_id_idx ON threads(client_request_id) WHERE client_request_id IS NOT NULL',
  'CREATE INDEX threads_active_catalog_order_idx ON threads(updated_at DESC, id ASC) WHERE archived_at IS NULL',
  'CREATE INDEX threads_archived_catalog_order_idx ON threads(updated_at DESC, id ASC) WHERE archived_at IS NOT NULL',
  'CREATE UNIQUE INDEX branches_default_thread_idx ON branches(thread_id) WHERE is_default = 1',
  // The turns that a thread still has to do, in order: decides what may start, what the sweep offers, archive.
  `CREATE INDEX turns_open_idx ON turns(thread_id, submitted_seq) WHERE status IN ('queued', 'running')`,
  `CREATE UNIQUE INDEX runs_client_request_id_idx ON runs(thread_id, client_request_id)
    WHERE client_request_id IS NOT NULL`,
  'CREATE INDEX runs_turn_history_idx ON runs(turn_id, created_at ASC, id ASC)',
  `CREATE INDEX runs_queued_idx ON runs(created_at, id) WHERE status = 'queued'`,
  `CREATE INDEX runs_holder_idx ON runs(holder) WHERE status = 'running'`,
  'CREATE INDEX items_turn_context_idx ON items(turn_id, ordinal ASC)',
  'CREATE INDEX pending_steers_left_idx ON pending_steers(received_seq) WHERE left_at IS NOT NULL',
  'CREATE UNIQUE INDEX pending_steers_follow_up_idx ON pending_steers(thread_id, follow_up_request_id)',
  'CREATE INDEX process_sessions_thread_idx ON process_sessions(thread_id, state)',
  `CREATE UNIQUE INDEX model_calls_execution_step_idx ON model_calls(run_id, step_ordinal)
    WHERE purpose = 'execution'`,
  'CREATE INDEX model_usages_completed_at_idx ON model_usages(completed_at ASC, run_id ASC, call_ordinal ASC)',
  'CREATE INDEX model_usages_activity_date_idx ON model_usages(activity_date ASC, run_id ASC, call_ordinal ASC)',
];

export const conversationDdl: readonly string[] = [
  threads,
  branches,
  turns,
  runs,
  runConfigs,
  items,
  streamChunks,
  pendingSteers,
  contextRevisions,
  processSessions,
  modelCalls,
  modelUsages,
  fileChanges,
  ...indexes,
];
