/** Production limits of the conversation domain. Sources: seed-ikaros (constants), ARCHITECTURE sections 2 and 3. */
export const limits = {
  /** Events in one commit; seq = streamSequence * eventsPerCommit + index. */
  eventsPerCommit: 1024,
  /** Bytes of one encoded commit. */
  commitBytes: 512 * 1024,
  /** Characters of a string field above which it moves to the object store. */
  inlineStringChars: 65_536,
  /** Characters of a blob that stay in the commit for previews. */
  blobHeadChars: 1024,
  /** Bytes of a turn's content. */
  turnContentBytes: 256 * 1024,
  titleChars: 200,
  workspaceTextChars: 200,
  pathChars: 4096,
  clientRequestIdChars: 200,
  identifierChars: 200,
  cursorChars: 2048,
  memoryCursorChars: 1024,
  pageDefault: 50,
  pageMax: 100,
  replayDefault: 500,
  replayMax: 1000,
  memoryContentChars: 2048,
  memoryPreviewChars: 160,
  memoryScopeKeyChars: 200,
  modelIdChars: 200,
  baseUrlChars: 2048,
  apiKeyChars: 8192,
  headerNameChars: 200,
  headerValueChars: 8192,
  contextWindowMax: Number.MAX_SAFE_INTEGER,
  contextWindowDefault: 32_768,
  discoveredModels: 1000,
  discoveryBytes: 1_000_000,
  sseEventChars: 1_000_000,
  toolArgumentsChars: 1_000_000,
  /** Bytes of a call's arguments: with what stands around them they fit in one NATS message of 1 MiB. */
  toolArgumentsBytes: 768 * 1024,
  /** Bytes of them that stay in the commit, without strings that move to the object store. */
  toolArgumentsInlineBytes: 256 * 1024,
  reasoningChars: 1_000_000,
  providerRequestRetries: 4,
  providerStreamRetries: 5,
  providerRequestsPerStep: 6,
  /** Steers of a run that no model call has seen; they all end in one commit. */
  pendingSteers: 64,
  deltaChars: 256,
  deltaMs: 50,
  connectionQueue: 1024,
  /** Bytes of one inbound RPC message. */
  rpcMessageBytes: 1024 * 1024,
  replayRing: 16_384,
  replayConsumers: 4,
  subscriptionThreads: 100,
  agentWorkersDefault: 6,
  agentWorkersMax: 8,
  jsonDepth: 64,
  toolOutputBytes: 50 * 1024,
  toolReadLines: 2000,
  processPageBytes: 16 * 1024,
  processWindowBytes: 1024 * 1024,
  processesPerThread: 64,
  processCommandChars: 32_768,
  /** Bytes of a delivery's JSON: a content of the largest size with every character escaped, and what is around it. */
  hookBodyBytes: 2 * 256 * 1024 + 4096,
  deliveryIdChars: 200,
  /** Free disk space of a home below which no turn is taken or started, in MiB; ROOKERY_STORAGE_LOW_MIB replaces it. */
  storageLowMiB: 256,
} as const;

/** Waits in milliseconds with their production values; tests replace them through ROOKERY_TIMINGS. */
export const productionTimings = {
  leaseRefreshMs: 3000,
  leaseTtlMs: 10_000,
  presenceTtlMs: 15_000,
  /** Two looks this far apart must both miss a holder's lease. */
  orphanLookMs: 6000,
  /** No orphan is settled this soon after the observer's own (re)connect. */
  orphanGraceMs: 15_000,
  sweepMs: 5000,
  holderSilentMs: 2000,
  conflictWaitMs: 2000,
  ackHoldMs: 5000,
  sendTimeoutMs: 5000,
  publishTimeoutMs: 5000,
  ambiguousDeadlineMs: 15_000,
  commandTimeoutMs: 20_000,
  drainMs: 10_000,
  providerConnectMs: 10_000,
  providerHeadersMs: 30_000,
  providerIdleMs: 300_000,
  providerRetryBaseMs: 200,
  providerRetryCapMs: 5000,
  toolSilenceMs: 15_000,
  authCodeMs: 300_000,
  lockWaitMs: 10_000,
  restartBaseMs: 100,
  restartCapMs: 10_000,
  outboxRetryBaseMs: 1000,
  outboxRetryCapMs: 60_000,
  canaryMs: 2000,
  /** Between two looks at the free disk space, and at whether nats-server can write. */
  storageLookMs: 5000,
  processTerminateMs: 6000,
  processDrainMs: 2000,
  processSnapshotMs: 250,
  dedupeWindowMs: 120_000,
} as const;

/** Waits in milliseconds, see `productionTimings`. */
export type Timings = { [K in keyof typeof productionTimings]: number };
