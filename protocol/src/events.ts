import * as z from 'zod';
import { limits } from './limits.ts';
import {
  branchSchema,
  idSchema,
  itemSchema,
  longTextSchema,
  processSchema,
  runConfigSchema,
  runSchema,
  settledStatusSchema,
  threadSchema,
  timeSchema,
  turnSchema,
  usageSchema,
} from './records.ts';

/** Payloads as the journal stores them: without the mirrors turnId, runId and itemId, which `toWireEvents` adds. */

const clientRequestId = z.string().min(1).max(limits.clientRequestIdChars);
const threadOnly = z.strictObject({ thread: threadSchema });

export const contextRevisionSchema = z.strictObject({
  revision: z.int().min(1),
  /** First and last turn of the contiguous history suffix: an event must not grow with the length of the thread. */
  historyGroups: z.array(z.strictObject({ turnId: idSchema, itemIds: z.array(idSchema) })).max(2),
  historyItems: z.array(z.record(z.string(), z.unknown())),
  memory: z.array(z.record(z.string(), z.unknown())),
  budget: z.record(z.string(), z.unknown()),
  omissions: z.array(z.record(z.string(), z.unknown())),
  historyStatus: z.record(z.string(), z.unknown()).nullable(),
  memoryContextCharacters: z.int().min(0),
  compactionSummary: longTextSchema.nullable(),
  currentRunOmittedThroughItemId: idSchema.nullable(),
});

export const stepInputSchema = z.strictObject({
  stepOrdinal: z.int().min(1),
  contextRevision: z.int().min(1),
  messages: z.int().min(1),
  /** Last item that this call's messages include. */
  throughItemId: idSchema,
  inputTokensBound: z.int().min(0),
});

const finished = {
  providerId: idSchema,
  modelId: z.string(),
  outcome: settledStatusSchema,
  reasonCode: z.string().nullable(),
  responseModelId: z.string().nullable(),
  requestId: z.string().max(200).nullable(),
  usage: usageSchema.nullable(),
  activityDate: z.iso.date().nullable(),
  finishedAt: timeSchema,
};

export const submissionSchema = z.strictObject({
  turn: turnSchema,
  run: runSchema,
  item: itemSchema,
  runConfig: runConfigSchema,
  clientRequestId: clientRequestId.optional(),
});

/** The 15 event types of the conversation domain that leave the gateway. */
export const conversationEventSchemas = {
  'thread.created': z.strictObject({
    thread: threadSchema,
    branch: branchSchema,
    clientRequestId: clientRequestId.optional(),
  }),
  'thread.renamed': threadOnly,
  'thread.archived': threadOnly,
  'thread.unarchived': threadOnly,
  'run.state_changed': z.strictObject({ status: z.enum(['queued', 'running']) }),
  'item.started': z.strictObject({ item: itemSchema }),
  'item.delta': z.strictObject({ delta: z.string().min(1) }),
  'item.completed': z.union([submissionSchema, z.strictObject({ item: itemSchema })]),
  'file.change_recorded': z.record(z.string(), z.unknown()),
  'process.recorded': z.strictObject({ process: processSchema }),
  'model.input_prepared': z.strictObject({
    stepOrdinal: z.int().min(1),
    preparedAt: timeSchema,
    contextRevision: contextRevisionSchema.nullable(),
    stepInput: stepInputSchema,
  }),
  'context.compacted': z.record(z.string(), z.unknown()),
  'model.response_finished': z.strictObject({ stepOrdinal: z.int().min(1), ...finished }),
  'run.settled': z.strictObject({
    status: settledStatusSchema,
    settledAt: timeSchema,
    reasonCode: z.string().optional(),
  }),
  'run.steered': z.strictObject({
    content: longTextSchema,
    clientRequestId,
    status: z.literal('received'),
    item: itemSchema,
  }),
} as const;

/** What the edge that took a person's request signs, and the runner verifies. */
export const authorizationSchema = z.strictObject({
  threadId: idSchema,
  clientRequestId,
  profileId: idSchema,
  /** Public nkey of the edge. */
  key: z.string().min(1).max(100),
  /** Base64 of the signature over the canonical JSON of {threadId, clientRequestId, profileId}. */
  signature: z.string().min(1).max(200),
});

export const webhookAccountSchema = z.strictObject({
  channel: z.literal('webhook'),
  account: idSchema,
  chat: z.string(),
});

/** Events of the journal that stay inside. */
export const internalEventSchemas = {
  /** First event of every commit that a client request led to: what a retry is compared with. */
  'command.accepted': z.strictObject({
    method: z.string(),
    clientRequestId: clientRequestId.nullable(),
    paramsSha256: z.string().length(64),
    authorization: authorizationSchema.nullable(),
  }),
  'run.claimed': z.strictObject({ holder: z.string().min(1).max(500), epoch: z.int().min(1) }),
  /** Steers that no model call has seen; each becomes a turn of its own. */
  'run.steers_left': z.strictObject({
    steers: z.array(z.strictObject({ itemId: idSchema, content: longTextSchema })).min(1),
  }),
  'memory.created': z.strictObject({
    memoryId: idSchema,
    kind: z.enum(['fact', 'preference', 'relationship', 'project']),
    scope: z.strictObject({ type: z.enum(['global', 'workspace']), key: z.string().nullable() }),
    content: z.string().min(1).max(limits.memoryContentChars),
    contentSha256: z.string().length(64),
    revision: z.literal(1),
    source: z
      .strictObject({ threadId: idSchema, turnId: idSchema, itemId: idSchema, itemSha256: z.string().length(64) })
      .nullable(),
  }),
  'memory.corrected': z.strictObject({
    memoryId: idSchema,
    content: z.string().min(1).max(limits.memoryContentChars),
    contentSha256: z.string().length(64),
    revision: z.int().min(2),
  }),
  /** A delivery from outside; its thread and turn ids are derived, so that a retry meets the same turn. */
  'channel.received': z.strictObject({
    deliveryId: z.string().min(1).max(limits.deliveryIdChars),
    bodySha256: z.string().length(64),
    content: longTextSchema,
    threadId: idSchema,
    turnId: idSchema,
    runId: idSchema,
    providerId: idSchema,
    modelId: z.string(),
    answerUrl: z.string().max(limits.baseUrlChars).nullable(),
    receivedAt: timeSchema,
  }),
  /** The outside refused or accepted an answer for good. */
  'channel.delivery_finished': z.strictObject({
    runId: idSchema,
    idempotencyKey: z.string(),
    status: z.enum(['sent', 'failed']),
    attempts: z.int().min(1),
    errorCode: z.string().nullable(),
    finishedAt: timeSchema,
  }),
  'config.changed': z.strictObject({ section: z.string(), keys: z.array(z.string()), revision: z.int().min(0) }),
  'canary.written': z.strictObject({}),
} as const;

export const eventSchemas = { ...conversationEventSchemas, ...internalEventSchemas } as const;

export type ConversationEventType = keyof typeof conversationEventSchemas;
export type EventType = keyof typeof eventSchemas;
export type EventPayload<T extends EventType> = z.infer<(typeof eventSchemas)[T]>;
export type Submission = z.infer<typeof submissionSchema>;
export type Authorization = z.infer<typeof authorizationSchema>;
export type ContextRevision = z.infer<typeof contextRevisionSchema>;
export type StepInput = z.infer<typeof stepInputSchema>;

/** An event with its payload typed by its type. */
export type JournalEvent = {
  [T in EventType]: { type: T; itemId?: string; payload: EventPayload<T> };
}[EventType];

export const conversationEventTypes = Object.keys(conversationEventSchemas) as ConversationEventType[];

/** True for the 15 types that clients may see. */
export function isConversationEvent(type: string): type is ConversationEventType {
  return Object.hasOwn(conversationEventSchemas, type);
}

export type EventCheck = { ok: true; event: JournalEvent } | { ok: false; unknown: boolean; issue: string };

/** Checks one event against its schema; `unknown` where the type is none of ours. */
export function checkEvent(event: { type: string; itemId?: string | undefined; payload: unknown }): EventCheck {
  if (!Object.hasOwn(eventSchemas, event.type))
    return { ok: false, unknown: true, issue: `unknown type ${event.type}` };
  const result = eventSchemas[event.type as EventType].safeParse(event.payload);
  if (result.success) return { ok: true, event: event as JournalEvent };
  const [issue] = result.error.issues;
  return { ok: false, unknown: false, issue: `${event.type}.${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}` };
}
