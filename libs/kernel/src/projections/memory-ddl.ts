/**
 * Tables of memory.db, after the seed's schema. Rows belong to an agent of a world. There are no foreign keys: what the
 * journal says is repeated as it is, and an erased revision must not stop the ones behind it.
 */
export const memoryDdl: readonly string[] = [
  `CREATE TABLE memory_records (
    world TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('fact', 'preference', 'relationship', 'project')),
    scope_type TEXT NOT NULL CHECK (scope_type IN ('global', 'workspace')),
    scope_key TEXT,
    current_revision INTEGER NOT NULL CHECK (current_revision >= 1),
    state TEXT NOT NULL CHECK (state IN ('active', 'forgotten')),
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    forgotten_at TEXT,
    PRIMARY KEY (world, agent_id, id),
    CHECK ((scope_type = 'global') = (scope_key IS NULL)),
    CHECK ((state = 'active') = (forgotten_at IS NULL))
  ) STRICT`,
  `CREATE TABLE memory_revisions (
    world TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    revision INTEGER NOT NULL CHECK (revision >= 1),
    operation TEXT NOT NULL CHECK (operation IN ('create', 'correct', 'forget')),
    content TEXT,
    content_digest TEXT,
    content_redacted_at TEXT,
    source_kind TEXT NOT NULL CHECK (source_kind IN ('user_explicit', 'session_item', 'auto_extracted')),
    source_thread_id TEXT,
    source_turn_id TEXT,
    source_item_id TEXT,
    source_item_digest TEXT,
    created_at TEXT NOT NULL,
    PRIMARY KEY (world, agent_id, memory_id, revision)
  ) STRICT`,
  // A request is looked up in its memory's own history, and beyond it in all that the agent asked for.
  `CREATE TABLE memory_operations (
    world TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    client_request_id TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    method TEXT NOT NULL CHECK (method IN ('memory.create', 'memory.correct', 'memory.forget')),
    params_sha256 TEXT NOT NULL,
    resulting_revision INTEGER NOT NULL CHECK (resulting_revision >= 1),
    created_at TEXT NOT NULL,
    PRIMARY KEY (world, agent_id, client_request_id, memory_id),
    UNIQUE (world, agent_id, memory_id, resulting_revision)
  ) STRICT`,
  `CREATE INDEX memory_records_state_order_idx
    ON memory_records(world, agent_id, state, updated_at DESC, id ASC)`,
  `CREATE INDEX memory_records_scope_order_idx
    ON memory_records(world, agent_id, state, scope_type, scope_key, updated_at DESC, id ASC)`,
  `CREATE INDEX memory_records_scope_kind_order_idx
    ON memory_records(world, agent_id, state, scope_type, scope_key, kind, updated_at DESC, id ASC)`,
];
