import { randomUUID } from 'node:crypto';
import {
  type ConsumerInfo,
  DiscardPolicy,
  type JetStreamManager,
  jetstreamManager,
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
  productionTimings,
  type StreamSpec,
  streams,
  type Timings,
} from '@rookery/protocol';
import type { Bus } from './connection.ts';
import {
  agentRunsConfig,
  blobsDifferences,
  bucketDifferences,
  consumerDifferences,
  NANOS_PER_MS,
  PROVISION_STEP,
  streamDifferences,
} from './differences.ts';
import { apiCode, busError, isPassing } from './failures.ts';

export interface ProvisionOptions {
  replicas?: number;
  /** Shorter waits for tests: lease and presence TTL, dedupe window, patience with a server that is starting. */
  timings?: Partial<Pick<Timings, 'leaseTtlMs' | 'presenceTtlMs' | 'dedupeWindowMs' | 'ambiguousDeadlineMs'>>;
  /** Public nkeys of the edges that may sign a person's requests, by edge name. */
  edgeKeys?: Record<string, string>;
}

export interface Provisioned extends Identity {
  /** What was created now, in words. */
  created: string[];
}

const NOT_FOUND = 10059;
const CONSUMER_NOT_FOUND = 10014;
const RETRY_MS = 200;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function streamInfo(jsm: JetStreamManager, name: string): Promise<StreamInfo | null> {
  try {
    return await jsm.streams.info(name);
  } catch (error) {
    if (apiCode(error) === NOT_FOUND) return null;
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
    duplicate_window: (options.timings?.dedupeWindowMs ?? spec.config.duplicate_window / NANOS_PER_MS) * NANOS_PER_MS,
    num_replicas: options.replicas ?? 1,
  };
}

const configOf = ({ config }: StreamInfo | ConsumerInfo) => config as unknown as Record<string, unknown>;

/** What is there already and differs is not changed behind anybody's back. */
function requireSame(differences: string[]): void {
  if (differences.length === 0) return;
  throw new AppError('CONFIG_INVALID', {
    message: `NATS is provisioned otherwise: ${differences.join('; ')}. Change it back, or point Rookery at another server.`,
    details: { differences },
  });
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
  requireSame(streamDifferences(spec, configOf(found)));
  return false;
}

async function ensureBucket(
  bus: Bus,
  jsm: JetStreamManager,
  spec: BucketSpec,
  options: ProvisionOptions,
): Promise<boolean> {
  const found = await streamInfo(jsm, `KV_${spec.name}`);
  if (found !== null) {
    requireSame(bucketDifferences(spec, configOf(found)));
    return false;
  }
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

async function ensureBlobs(bus: Bus, jsm: JetStreamManager, options: ProvisionOptions): Promise<boolean> {
  const found = await streamInfo(jsm, `OBJ_${BLOBS}`);
  if (found !== null) {
    requireSame(blobsDifferences(configOf(found)));
    return false;
  }
  await new Objm(bus.nc).create(BLOBS, { storage: StorageType.File, replicas: options.replicas ?? 1 });
  return true;
}

async function ensureConsumer(jsm: JetStreamManager): Promise<boolean> {
  try {
    requireSame(consumerDifferences(configOf(await jsm.consumers.info(agentRuns.stream, agentRuns.durable))));
    return false;
  } catch (error) {
    if (apiCode(error) !== CONSUMER_NOT_FOUND) throw error;
  }
  await jsm.consumers.add(agentRuns.stream, agentRunsConfig);
  return true;
}

/**
 * Creates or verifies everything that the services expect in NATS. Runs as the user `provision`; harmless twice. A server
 * that is still starting is waited for. CONFIG_INVALID (details.differences) where something is there and differs,
 * SERVICE_UNAVAILABLE, PERMISSION_VIOLATION.
 */
export async function provision(bus: Bus, options: ProvisionOptions = {}): Promise<Provisioned> {
  const jsm = await jetstreamManager(bus.nc, { checkAPI: false, timeout: 2 * bus.publishTimeoutMs });
  const deadline = performance.now() + (options.timings?.ambiguousDeadlineMs ?? productionTimings.ambiguousDeadlineMs);
  const created: string[] = [];
  for (;;) {
    try {
      return { ...(await provisionOnce(bus, jsm, options, created)), created };
    } catch (error) {
      if (!isPassing(error) || performance.now() > deadline) throw busError(error);
      await pause(RETRY_MS);
    }
  }
}

/** All of it once; what was created before is found, and not made again. */
async function provisionOnce(
  bus: Bus,
  jsm: JetStreamManager,
  options: ProvisionOptions,
  created: string[],
): Promise<Identity> {
  for (const spec of streams) if (await ensureStream(jsm, spec, options)) created.push(`stream ${spec.name}`);
  for (const spec of Object.values(buckets)) {
    if (await ensureBucket(bus, jsm, spec, options)) created.push(`bucket ${spec.name}`);
  }
  if (await ensureBlobs(bus, jsm, options)) created.push(`object store ${BLOBS}`);
  if (await ensureConsumer(jsm)) created.push(`consumer ${agentRuns.durable}`);
  const { homeId, journalId } = await journalIdentity(bus);
  if (options.edgeKeys !== undefined && (await saveEdges(bus, homeId, options.edgeKeys))) created.push('edges');
  return { homeId, journalId };
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

/** What the streams of a house are known by. */
export interface Identity {
  homeId: string;
  journalId: string;
}

async function readStreamInfo(bus: Bus, name: string): Promise<StreamInfo | null> {
  try {
    return await streamInfo(bus.jsm, name);
  } catch (error) {
    throw busError(error);
  }
}

/**
 * Home id and journal id that provision wrote into the journal's metadata; JOURNAL_UNAVAILABLE where there is none,
 * SERVICE_UNAVAILABLE.
 */
export async function journalIdentity(bus: Bus): Promise<Identity & { createdAt: string }> {
  const info = await readStreamInfo(bus, JOURNAL);
  const homeId = info?.config.metadata?.[journalMetadata.homeId];
  const journalId = info?.config.metadata?.[journalMetadata.journalId];
  if (info === null || homeId === undefined || journalId === undefined) {
    throw new AppError('JOURNAL_UNAVAILABLE', { message: 'NATS is not provisioned; run `npx rookery nats init`.' });
  }
  return { homeId, journalId, createdAt: info.created };
}

/**
 * Refuses to go on where a stream is missing or differs from its specification: JOURNAL_UNAVAILABLE with the differences,
 * SERVICE_UNAVAILABLE where the server does not say.
 */
export async function verifyProvisioned(bus: Bus, names: readonly string[] = [JOURNAL]): Promise<Identity> {
  for (const spec of streams.filter((stream) => names.includes(stream.name))) {
    const info = await readStreamInfo(bus, spec.name);
    const differences = info === null ? [`${spec.name} is missing`] : streamDifferences(spec, configOf(info));
    if (differences.length > 0)
      throw new AppError('JOURNAL_UNAVAILABLE', {
        message: `NATS is not provisioned: ${differences.join('; ')}`,
        details: { differences },
      });
  }
  const { homeId, journalId } = await journalIdentity(bus);
  return { homeId, journalId };
}
