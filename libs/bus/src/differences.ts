import { agentRuns, BLOBS, type BucketSpec, journalMetadata, type StreamSpec } from '@rookery/protocol';

/** Number of the newest provisioning step that this program knows. */
export const PROVISION_STEP = 1;

export const NANOS_PER_MS = 1_000_000;

/** What the server says of a stream or consumer. */
type Found = Record<string, unknown>;

/** Keys in which something differs, as `name.key: found, wanted`. The server leaves out what is false, 0 or empty. */
function differencesOf(name: string, wanted: Found, found: Found): string[] {
  const same = (key: string, value: unknown) =>
    JSON.stringify(found[key] ?? (value === false || value === 0 ? value : undefined)) === JSON.stringify(value);
  return Object.entries(wanted)
    .filter(([key, value]) => !same(key, value))
    .map(([key, value]) => `${name}.${key}: ${JSON.stringify(found[key])}, wanted ${JSON.stringify(value)}`);
}

/** Keys in which a stream differs from its specification, as `name.key: found, wanted`. */
export function streamDifferences(spec: StreamSpec, found: Found): string[] {
  const wanted: Found = { ...spec.config, subjects: spec.subjects };
  // Tests shorten this one, and a longer or shorter window changes speed only, never correctness.
  delete wanted.duplicate_window;
  return [...differencesOf(spec.name, wanted, found), ...stepDifferences(spec.name, found)];
}

/** A stream that a newer program provisioned may be as wanted, and mean something else. */
function stepDifferences(name: string, found: Found): string[] {
  const metadata = (found.metadata ?? {}) as Record<string, string>;
  const step = Number(metadata[journalMetadata.step] ?? 0);
  return step > PROVISION_STEP
    ? [`${name} is of provisioning step ${step}, and this program knows ${PROVISION_STEP}`]
    : [];
}

/** The same for the stream behind a bucket. */
export function bucketDifferences(spec: BucketSpec, found: Found): string[] {
  const name = `KV_${spec.name}`;
  const wanted: Found = {
    subjects: [`$KV.${spec.name}.>`],
    storage: spec.storage,
    retention: 'limits',
    discard: 'new',
    max_msgs_per_subject: spec.history,
    max_bytes: -1,
    max_msgs: -1,
    allow_direct: true,
    allow_rollup_hdrs: true,
  };
  // How soon a lease expires differs in tests, and is a hint; that it expires, or that nothing else does, is not.
  if (spec.ttlMs === 0) wanted.max_age = 0;
  const differences = differencesOf(name, wanted, found);
  if (spec.ttlMs > 0 && !found.max_age) differences.push(`${name}.max_age: 0, wanted ${spec.ttlMs * NANOS_PER_MS}`);
  return differences;
}

/** The same for the stream behind the object store. */
export function blobsDifferences(found: Found): string[] {
  const wanted: Found = {
    subjects: [`$O.${BLOBS}.C.>`, `$O.${BLOBS}.M.>`],
    storage: 'file',
    retention: 'limits',
    discard: 'new',
    max_age: 0,
    max_bytes: -1,
    max_msgs: -1,
    allow_direct: true,
    allow_rollup_hdrs: true,
  };
  return differencesOf(`OBJ_${BLOBS}`, wanted, found);
}

/** The consumer `agent-runs` as the server is to have it. */
export const agentRunsConfig = {
  durable_name: agentRuns.durable,
  filter_subject: agentRuns.filter,
  deliver_policy: 'all',
  ack_policy: 'explicit',
  replay_policy: 'instant',
  ack_wait: agentRuns.ackWaitMs * NANOS_PER_MS,
  // A message that reaches a limit would leave the pending set silently.
  max_deliver: -1,
  max_ack_pending: agentRuns.maxAckPending,
  max_waiting: agentRuns.maxWaiting,
} as const;

/** The same for the consumer `agent-runs`. */
export function consumerDifferences(found: Found): string[] {
  return differencesOf(agentRuns.durable, agentRunsConfig, found);
}
