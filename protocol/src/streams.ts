import { productionTimings } from './limits.ts';
import { subjectFilters } from './subjects.ts';

/** Every stream, bucket, store and durable consumer of the project. A change here is a numbered migration. */

const NANOS_PER_MS = 1_000_000;

export interface StreamSpec {
  name: string;
  subjects: string[];
  /** Keys of the JetStream stream configuration that provision sets and services verify. */
  config: {
    storage: 'file';
    retention: 'limits';
    discard: 'new';
    compression: 'none';
    allow_direct: true;
    deny_delete: false;
    deny_purge: false;
    max_age: 0;
    max_bytes: -1;
    max_msgs: -1;
    max_msgs_per_subject: -1;
    duplicate_window: number;
  };
}

const stream = (name: string, subject: string): StreamSpec => ({
  name,
  subjects: [subject],
  config: {
    storage: 'file',
    retention: 'limits',
    discard: 'new',
    compression: 'none',
    allow_direct: true,
    // These two can never be lifted once set, and erasure needs deletion; users' permissions restrict it.
    deny_delete: false,
    deny_purge: false,
    max_age: 0,
    max_bytes: -1,
    max_msgs: -1,
    max_msgs_per_subject: -1,
    duplicate_window: productionTimings.dedupeWindowMs * NANOS_PER_MS,
  },
});

export const JOURNAL = 'JOURNAL';
export const MEMORY = 'MEMORY';
export const streams: StreamSpec[] = [stream(JOURNAL, subjectFilters.journal), stream(MEMORY, subjectFilters.memory)];

export interface BucketSpec {
  name: string;
  storage: 'file';
  history: number;
  /** Milliseconds, 0 = for ever. */
  ttlMs: number;
}

/**
 * Leases and presence are files too: a memory bucket with one replica is gone after a restart of nats-server, and the
 * services have no right to make it again.
 */
export const buckets = {
  leases: { name: 'leases', storage: 'file', history: 1, ttlMs: productionTimings.leaseTtlMs },
  presence: { name: 'presence', storage: 'file', history: 1, ttlMs: productionTimings.presenceTtlMs },
  tokens: { name: 'tokens', storage: 'file', history: 1, ttlMs: 0 },
  config: { name: 'config', storage: 'file', history: 64, ttlMs: 0 },
  vault_provider: { name: 'vault_provider', storage: 'file', history: 1, ttlMs: 0 },
  vault_channel: { name: 'vault_channel', storage: 'file', history: 1, ttlMs: 0 },
  vault_tool: { name: 'vault_tool', storage: 'file', history: 1, ttlMs: 0 },
} as const satisfies Record<string, BucketSpec>;
export type BucketName = keyof typeof buckets;

export const BLOBS = 'BLOBS';

export interface ConsumerSpec {
  stream: string;
  durable: string;
  filter: string;
  ackWaitMs: number;
  maxAckPending: number;
  maxWaiting: number;
}

/** Distributes submissions; offers are hints, the claim in the journal decides. */
export const agentRuns: ConsumerSpec = {
  stream: JOURNAL,
  durable: 'agent-runs',
  filter: subjectFilters.turns,
  ackWaitMs: 30_000,
  maxAckPending: 50_000,
  maxWaiting: 512,
};

/** The account that owns the streams; its name is part of the store's path and never changes. */
export const ACCOUNT = 'ROOKERY';

/** Oldest nats-server that keeps what it acknowledged (2.10 was seen to lose data in two ways). */
export const NATS_MINIMUM = { major: 2, minor: 15 } as const;

/** Metadata keys of the JOURNAL stream. */
export const journalMetadata = {
  homeId: 'rookery_home_id',
  journalId: 'rookery_journal_id',
  step: 'rookery_step',
} as const;
