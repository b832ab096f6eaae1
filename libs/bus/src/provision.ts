import { randomUUID } from 'node:crypto';
import {
  AckPolicy,
  DeliverPolicy,
  DiscardPolicy,
  type JetStreamManager,
  jetstreamManager,
  ReplayPolicy,
  RetentionPolicy,
  StorageType,
  StoreCompression,
  type StreamConfig,
  type StreamInfo,
} from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { Objm } from '@nats-io/obj';
import {
  AppError,
  agentRuns,
  BLOBS,
  type BucketSpec,
  buckets,
  type ConfigValue,
  DEFAULT_AGENT,
  DEFAULT_WORLD,
  JOURNAL,
  journalMetadata,
  type StreamSpec,
  streams,
  type Timings,
} from '@rookery/protocol';
import type { Bus } from './connection.ts';

/** Number of the newest provisioning step that this program knows. */
export const PROVISION_STEP = 1;

export interface ProvisionOptions {
  replicas?: number;
  /** Shorter waits for tests: lease and presence TTL, dedupe window. */
  timings?: Partial<Pick<Timings, 'leaseTtlMs' | 'presenceTtlMs' | 'dedupeWindowMs'>>;
  /** Public nkeys of the edges that may sign a person's requests, by edge name. */
  edgeKeys?: Record<string, string>;
}

export interface Provisioned {
  homeId: string;
  journalId: string;
  /** What was created now, in words. */
  created: string[];
}

const NANOS = 1_000_000;
const NOT_FOUND = 10059;
const CONSUMER_NOT_FOUND = 10014;
const code = (error: unknown): number | undefined => (error as { code?: number } | null)?.code;

async function streamInfo(jsm: JetStreamManager, name: string): Promise<StreamInfo | null> {
  try {
    return await jsm.streams.info(name);
  } catch (error) {
    if (code(error) === NOT_FOUND) return null;
    throw error;
  }
}

function desired(spec: StreamSpec, options: ProvisionOptions): Partial<StreamConfig> & { name: string } {
  return {
    name: spec.name,
    subjects: spec.subjects,
    ...spec.config,
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    discard: DiscardPolicy.New,
    compression: StoreCompression.None,
    duplicate_window: (options.timings?.dedupeWindowMs ?? spec.config.duplicate_window / NANOS) * NANOS,
    num_replicas: options.replicas ?? 1,
  };
}

/** Keys in which a stream differs from its specification, as `name: found, wanted`. */
export function streamDifferences(spec: StreamSpec, found: Record<string, unknown>): string[] {
  const wanted: Record<string, unknown> = { ...spec.config, subjects: spec.subjects };
  // Tests shorten this one, and a longer or shorter window changes speed only, never correctness.
  delete wanted.duplicate_window;
  return Object.entries(wanted)
    .filter(
      ([key, value]) => JSON.stringify(found[key] ?? (value === false ? false : undefined)) !== JSON.stringify(value),
    )
    .map(([key, value]) => `${spec.name}.${key}: ${JSON.stringify(found[key])}, wanted ${JSON.stringify(value)}`);
}

async function ensureStream(jsm: JetStreamManager, spec: StreamSpec, options: ProvisionOptions): Promise<boolean> {
  const found = await streamInfo(jsm, spec.name);
  if (found === null) {
    const metadata: Record<string, string> = { [journalMetadata.step]: String(PROVISION_STEP) };
    if (spec.name === JOURNAL) {
      metadata[journalMetadata.homeId] = randomUUID();
      metadata[journalMetadata.journalId] = randomUUID();
    }
    await jsm.streams.add({ ...desired(spec, options), metadata });
    return true;
  }
  const differences = streamDifferences(spec, found.config as unknown as Record<string, unknown>);
  if (differences.length > 0)
    throw new AppError('CONFIG_INVALID', { message: `stream differs: ${differences.join('; ')}` });
  return false;
}

async function ensureBucket(
  bus: Bus,
  jsm: JetStreamManager,
  spec: BucketSpec,
  options: ProvisionOptions,
): Promise<boolean> {
  if ((await streamInfo(jsm, `KV_${spec.name}`)) !== null) return false;
  const shortened =
    spec.name === 'leases'
      ? options.timings?.leaseTtlMs
      : spec.name === 'presence'
        ? options.timings?.presenceTtlMs
        : undefined;
  await new Kvm(bus.nc).create(spec.name, {
    history: spec.history,
    ttl: shortened ?? spec.ttlMs,
    storage: StorageType.File,
    replicas: options.replicas ?? 1,
  });
  return true;
}

async function ensureConsumer(jsm: JetStreamManager): Promise<boolean> {
  try {
    await jsm.consumers.info(agentRuns.stream, agentRuns.durable);
    return false;
  } catch (error) {
    if (code(error) !== CONSUMER_NOT_FOUND) throw error;
  }
  await jsm.consumers.add(agentRuns.stream, {
    durable_name: agentRuns.durable,
    filter_subject: agentRuns.filter,
    deliver_policy: DeliverPolicy.All,
    ack_policy: AckPolicy.Explicit,
    replay_policy: ReplayPolicy.Instant,
    ack_wait: agentRuns.ackWaitMs * NANOS,
    max_deliver: -1,
    max_ack_pending: agentRuns.maxAckPending,
    max_waiting: agentRuns.maxWaiting,
  });
  return true;
}

/** Creates or verifies everything that the services expect in NATS. Runs as the user `provision`; harmless twice. */
export async function provision(bus: Bus, options: ProvisionOptions = {}): Promise<Provisioned> {
  const jsm = await jetstreamManager(bus.nc, { checkAPI: false, timeout: 10_000 });
  const created: string[] = [];
  for (const spec of streams) if (await ensureStream(jsm, spec, options)) created.push(`stream ${spec.name}`);
  for (const spec of Object.values(buckets)) {
    if (await ensureBucket(bus, jsm, spec, options)) created.push(`bucket ${spec.name}`);
  }
  if ((await streamInfo(jsm, `OBJ_${BLOBS}`)) === null) {
    await new Objm(bus.nc).create(BLOBS, { storage: StorageType.File, replicas: options.replicas ?? 1 });
    created.push(`object store ${BLOBS}`);
  }
  if (await ensureConsumer(jsm)) created.push(`consumer ${agentRuns.durable}`);
  const identity = await journalIdentity(bus);
  if (options.edgeKeys !== undefined && (await saveEdges(bus, identity.homeId, options.edgeKeys)))
    created.push('edges');
  return { ...identity, created };
}

/** Writes the section `edges` where it differs; a person's own choice of agent and world for an edge is kept. */
async function saveEdges(bus: Bus, homeId: string, keys: Record<string, string>): Promise<boolean> {
  const bucket = await new Kvm(bus.nc).open('config', { bindOnly: true, allow_direct: true });
  const entry = await bucket.get('edges');
  const saved = entry?.operation === 'PUT' ? entry.json<ConfigValue<'edges'>>() : { homeId: null, edges: {} };
  const edges: ConfigValue<'edges'>['edges'] = { ...saved.edges };
  for (const [edge, publicKey] of Object.entries(keys)) {
    edges[edge] = {
      agentId: edges[edge]?.agentId ?? DEFAULT_AGENT,
      world: edges[edge]?.world ?? DEFAULT_WORLD,
      publicKey,
    };
  }
  const next = JSON.stringify({ homeId, edges });
  if (entry?.operation === 'PUT' && entry.string() === next) return false;
  await bucket.put('edges', next);
  return true;
}

/** Home id and journal id that provision wrote into the journal's metadata. */
export async function journalIdentity(bus: Bus): Promise<{ homeId: string; journalId: string; createdAt: string }> {
  const info = await streamInfo(bus.jsm, JOURNAL);
  const homeId = info?.config.metadata?.[journalMetadata.homeId];
  const journalId = info?.config.metadata?.[journalMetadata.journalId];
  if (info === null || homeId === undefined || journalId === undefined) {
    throw new AppError('JOURNAL_UNAVAILABLE', { message: 'NATS is not provisioned; run `npx rookery nats init`.' });
  }
  return { homeId, journalId, createdAt: info.created };
}

/** Refuses to go on where a stream is missing or differs from its specification. */
export async function verifyProvisioned(
  bus: Bus,
  names: readonly string[] = [JOURNAL],
): Promise<{ homeId: string; journalId: string }> {
  for (const spec of streams.filter((stream) => names.includes(stream.name))) {
    const info = await streamInfo(bus.jsm, spec.name);
    const differences =
      info === null
        ? [`${spec.name} is missing`]
        : streamDifferences(spec, info.config as unknown as Record<string, unknown>);
    if (differences.length > 0)
      throw new AppError('JOURNAL_UNAVAILABLE', { message: `NATS is not provisioned: ${differences.join('; ')}` });
  }
  return await journalIdentity(bus);
}
