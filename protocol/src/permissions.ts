import { agentRuns, BLOBS, type BucketName, JOURNAL, MEMORY } from './streams.ts';

/**
 * Who may publish and subscribe to what. nats.conf and docs/permissions.md are generated from this table.
 * Everything that is not allowed here is denied. Names of users are names of nkey files.
 */
export interface UserPermissions {
  user: string;
  about: string;
  publish: { allow: string[]; deny: string[] };
  subscribe: { allow: string[]; deny: string[] };
}

/** Prefix of a user's own inboxes; a responder drops requests whose reply does not begin with `_INBOX_`. */
export function inboxPrefix(user: string): string {
  return `_INBOX_${user}`;
}
export const INBOX_ROOT = '_INBOX_';

const readBucket = (name: BucketName): string[] => [
  `$JS.API.STREAM.INFO.KV_${name}`,
  `$JS.API.DIRECT.GET.KV_${name}.$KV.${name}.>`,
  `$JS.API.CONSUMER.CREATE.KV_${name}.*.$KV.${name}.>`,
  `$JS.API.CONSUMER.INFO.KV_${name}.*`,
  `$JS.API.CONSUMER.DELETE.KV_${name}.*`,
  `$JS.FC.KV_${name}.>`,
];

const readStream = (name: string): string[] => [
  `$JS.API.STREAM.INFO.${name}`,
  `$JS.API.CONSUMER.CREATE.${name}.*`,
  `$JS.API.CONSUMER.CREATE.${name}.*.>`,
  `$JS.API.CONSUMER.INFO.${name}.*`,
  `$JS.API.CONSUMER.DELETE.${name}.*`,
  `$JS.API.CONSUMER.MSG.NEXT.${name}.*`,
  `$JS.API.DIRECT.GET.${name}`,
  `$JS.API.DIRECT.GET.${name}.>`,
];

const readBlobs = [
  `$JS.API.STREAM.INFO.OBJ_${BLOBS}`,
  `$JS.API.STREAM.MSG.GET.OBJ_${BLOBS}`,
  `$JS.API.DIRECT.GET.OBJ_${BLOBS}.>`,
  `$JS.API.CONSUMER.CREATE.OBJ_${BLOBS}.*`,
  `$JS.API.CONSUMER.CREATE.OBJ_${BLOBS}.*.>`,
  `$JS.API.CONSUMER.INFO.OBJ_${BLOBS}.*`,
  `$JS.API.CONSUMER.DELETE.OBJ_${BLOBS}.*`,
  `$JS.FC.OBJ_${BLOBS}.>`,
];
const writeBlobs = [`$O.${BLOBS}.C.>`, `$O.${BLOBS}.M.>`];

/** Own keys only: leases and presence say who is alive, and nobody may say it for another. */
const liveness = (service: string): string[] => [
  ...readBucket('leases'),
  ...readBucket('presence'),
  `$KV.leases.instance.${service}.>`,
  `$KV.presence.instance.${service}.>`,
];

const common = ['$JS.API.INFO'];

/** A shared durable that only its owner may pull from, change or delete. */
const notAgentRuns = [
  `$JS.API.CONSUMER.*.${agentRuns.stream}.${agentRuns.durable}`,
  `$JS.API.CONSUMER.*.${agentRuns.stream}.${agentRuns.durable}.>`,
  `$JS.API.CONSUMER.MSG.NEXT.${agentRuns.stream}.${agentRuns.durable}`,
  `$JS.ACK.${agentRuns.stream}.${agentRuns.durable}.>`,
];

const user = (
  name: string,
  about: string,
  publish: string[],
  subscribe: string[],
  deny: string[] = [],
): UserPermissions => ({
  user: name,
  about,
  publish: { allow: publish, deny },
  subscribe: { allow: [`${inboxPrefix(name)}.>`, ...subscribe], deny: [] },
});

/** Users of the ROOKERY account. The supervisor also has a user in the system account, which is not restricted. */
export const permissions: UserPermissions[] = [
  user(
    'provision',
    'creates and verifies streams, buckets and consumers; writes the first keys; copies and restores streams',
    ['$JS.API.>', '$JS.SNAPSHOT.>', '$KV.config.>'],
    [],
  ),
  user('supervisor', 'starts and stops the services', [...common, ...readBucket('leases')], ['cmd.supervisor.>']),
  user(
    'gateway',
    'the edge: reads the journal, sends commands, writes configuration and vaults',
    [
      ...common,
      ...liveness('gateway'),
      ...readStream(JOURNAL),
      ...readBucket('config'),
      ...readBucket('tokens'),
      ...readBucket('vault_provider'),
      ...readBucket('vault_channel'),
      ...readBlobs,
      'journal.config',
      '$KV.config.>',
      '$KV.tokens.>',
      '$KV.vault_provider.>',
      '$KV.vault_channel.>',
      'cmd.agent.any.>',
      'cmd.memory.any.>',
      'cmd.channels.any.>',
      'cmd.tool.*.process.read',
      'cmd.tool.*.process.stop',
      'cmd.supervisor.any.runtime.shutdown',
      'cmd.supervisor.any.runtime.status',
      '$SRV.>',
    ],
    ['$SRV.>'],
    notAgentRuns,
  ),
  user(
    'agent',
    'decides threads, turns, runs and approvals; runs the agent loop',
    [
      ...common,
      ...liveness('agent'),
      ...readStream(JOURNAL),
      `$JS.ACK.${agentRuns.stream}.${agentRuns.durable}.>`,
      ...readBucket('config'),
      ...readBucket('vault_provider'),
      ...readBlobs,
      ...writeBlobs,
      'journal.*.thread.*.turns',
      'journal.*.thread.*.run.*',
      'journal.*.thread.*.approval.*',
      'journal.*.task.>',
      'journal.*.goal.>',
      'journal.*.workflow.>',
      'journal.*.agent.>',
      'journal.*.entity.>',
      'journal.canary',
      'cmd.agent.*.run.cancel',
      'cmd.agent.*.run.steer',
      'cmd.tool.*.>',
      'cmd.memory.any.>',
    ],
    ['cmd.agent.>', '$SRV.>'],
    [
      `$JS.API.CONSUMER.CREATE.${agentRuns.stream}.${agentRuns.durable}`,
      `$JS.API.CONSUMER.CREATE.${agentRuns.stream}.${agentRuns.durable}.>`,
      `$JS.API.CONSUMER.DURABLE.CREATE.${agentRuns.stream}.${agentRuns.durable}`,
      `$JS.API.CONSUMER.DELETE.${agentRuns.stream}.${agentRuns.durable}`,
    ],
  ),
  user(
    'tool',
    'runs tools on one machine; sees only its own process subjects and whether a run is current',
    [
      ...common,
      ...liveness('tool'),
      `$JS.API.DIRECT.GET.${JOURNAL}.journal.*.thread.*.process.*`,
      `$JS.API.DIRECT.GET.${JOURNAL}.journal.*.thread.*.run.*`,
      ...readBucket('config'),
      'journal.*.thread.*.process.*',
    ],
    ['cmd.tool.>', '$SRV.>'],
  ),
  user(
    'memory',
    'decides and recalls memories',
    [
      ...common,
      ...liveness('memory'),
      ...readStream(JOURNAL),
      ...readStream(MEMORY),
      ...readBucket('config'),
      'memory.*.*.memory.*',
      'memory.*.*.evidence.*',
      'memory.*.*.preference.*',
    ],
    ['cmd.memory.>', '$SRV.>'],
    notAgentRuns,
  ),
  user(
    'channels',
    'carries messages between the outside and threads',
    [
      ...common,
      ...liveness('channels'),
      '$KV.leases.channel.>',
      ...readStream(JOURNAL),
      ...readBucket('config'),
      ...readBucket('vault_channel'),
      ...readBlobs,
      ...writeBlobs,
      'journal.*.channel.>',
      'cmd.agent.any.>',
    ],
    ['cmd.channels.>', '$SRV.>'],
    notAgentRuns,
  ),
];

/** Replies of a responder: any number, for as long as the longest command may take. */
export const allowResponses = { max: -1, expires: '24h' } as const;

/** User in the system account: asks the server about itself. */
export const SYSTEM_USER = 'system';
export const SYSTEM_ACCOUNT = 'SYS';
/** Asks a server whether it is well; only the system account may. */
export const SERVER_HEALTH = '$SYS.REQ.SERVER.PING.HEALTHZ';
