import * as z from 'zod';
import {
  baseUrlSchema,
  PROVIDER_ID,
  printable,
  providerIdSchema,
  reasoningEffortSchema,
  webhookNameSchema,
} from './config-sections.ts';
import { limits } from './limits.ts';
import { idSchema } from './records.ts';

/** Parameters of every RPC method that the gateway serves. Keys are exact: an unknown one is INVALID_PARAMS. */

const clientRequestId = z.string().min(1).max(limits.clientRequestIdChars);
const title = z
  .string()
  .trim()
  .max(limits.titleChars)
  .transform((value) => (value === '' ? null : value))
  .nullable();
const page = (cursorChars: number) => ({
  cursor: z.string().max(cursorChars).nullish(),
  limit: z.int().min(1).max(limits.pageMax).default(limits.pageDefault),
});
const threadOnly = z.strictObject({ threadId: idSchema });

export const workspaceParamSchema = z.strictObject({
  id: z.string().min(1).max(limits.workspaceTextChars).optional(),
  name: z.string().min(1).max(limits.workspaceTextChars).optional(),
  rootUri: z.string().min(1).max(limits.pathChars),
  kind: z.literal('project').optional(),
});

export const eventFilterSchema = z.strictObject({
  threadIds: z.array(idSchema).min(1).max(limits.subscriptionThreads).optional(),
  types: z.array(z.string().max(100)).min(1).max(50).optional(),
});

const modelSchema = z.strictObject({
  id: printable(limits.modelIdChars),
  displayName: printable(200).optional(),
  contextWindow: z.int().min(1).optional(),
  supportsTools: z.boolean().optional(),
  reasoningEfforts: z.array(reasoningEffortSchema).optional(),
  reasoningEffort: reasoningEffortSchema.nullish(),
});
const apiKey = z
  .string()
  .max(limits.apiKeyChars)
  .regex(/^[^\p{Cc}]*$/u)
  .refine((value) => value === value.trim(), 'has surrounding blanks');
const modelList = z.array(modelSchema).min(1).max(limits.discoveredModels);
const headers = z.record(
  z
    .string()
    .min(1)
    .max(limits.headerNameChars)
    .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/),
  z
    .string()
    .max(limits.headerValueChars)
    .regex(/^[^\p{Cc}]*$/u),
);

const memoryContent = z
  .string()
  .max(limits.memoryContentChars)
  .refine((value) => value.trim() !== '', 'is blank')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the rule is about control characters
  .refine((value) => !/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(value), 'has control characters');
export const memoryKindSchema = z.enum(['fact', 'preference', 'relationship', 'project']);
export const memoryScopeSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('global'), key: z.null() }),
  z.strictObject({
    type: z.literal('workspace'),
    key: z.string().trim().min(1).max(limits.memoryScopeKeyChars),
  }),
]);

export const rpcParams = {
  initialize: z.strictObject({
    protocolVersion: z.int(),
    client: z.strictObject({ name: z.string().max(200), version: z.string().max(200) }).optional(),
  }),
  'thread.create': z.strictObject({
    title: title.default(null),
    workspace: workspaceParamSchema.nullish(),
    clientRequestId: clientRequestId.optional(),
  }),
  'thread.rename': z.strictObject({ threadId: idSchema, title }),
  'thread.archive': threadOnly,
  'thread.unarchive': threadOnly,
  'thread.get': threadOnly,
  'thread.list': z.strictObject({ ...page(limits.cursorChars), archived: z.boolean().default(false) }),
  'turn.start': z.strictObject({
    threadId: idSchema,
    branchId: idSchema,
    content: z.string(),
    providerId: idSchema,
    modelId: z.string().min(1).max(limits.modelIdChars),
    clientRequestId: clientRequestId.optional(),
  }),
  'turn.list': z.strictObject({ threadId: idSchema, branchId: idSchema, ...page(limits.cursorChars) }),
  'run.cancel': z.strictObject({ runId: idSchema }),
  'run.steer': z.strictObject({ runId: idSchema, content: z.string(), expectedRunId: idSchema, clientRequestId }),
  'event.replay': z.strictObject({
    afterSeq: z.int().min(0).default(0),
    limit: z.int().min(1).max(limits.replayMax).default(limits.replayDefault),
    filter: eventFilterSchema.nullish(),
  }),
  'event.subscribe': z.strictObject({ filter: eventFilterSchema.nullable() }),
  'provider.list': z.strictObject({}),
  'provider.configure': z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('deepseek'), apiKey: apiKey.min(1), models: modelList }),
    z.strictObject({
      kind: z.literal('custom'),
      providerId: z.string().trim().toLowerCase().regex(PROVIDER_ID),
      displayName: printable(200),
      baseUrl: baseUrlSchema,
      /** Absent keeps the saved key, an empty one removes it. */
      apiKey: apiKey.optional(),
      headers: headers.optional(),
      models: modelList,
    }),
  ]),
  'provider.discover_models': z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('deepseek'), apiKey: apiKey.min(1) }),
    z.strictObject({
      kind: z.literal('custom'),
      baseUrl: baseUrlSchema,
      apiKey: apiKey.optional(),
      headers: headers.optional(),
    }),
  ]),
  'provider.disconnect': z.strictObject({ providerId: idSchema }),
  'provider.remove': z.strictObject({ providerId: idSchema }),
  'model.list': z.strictObject({}),
  'model.set_enabled': z.strictObject({ providerId: idSchema, modelId: z.string().min(1), enabled: z.boolean() }),
  'model.set_limits': z.strictObject({
    providerId: idSchema,
    modelId: z.string().min(1),
    contextWindow: z.int().min(1),
    reasoningEfforts: z.array(reasoningEffortSchema).optional(),
    reasoningEffort: reasoningEffortSchema.nullish(),
  }),
  'memory.create': z.strictObject({
    kind: memoryKindSchema,
    scope: memoryScopeSchema,
    content: memoryContent,
    clientRequestId,
    source: z.strictObject({ type: z.literal('session_item'), itemId: idSchema }).optional(),
  }),
  'memory.correct': z.strictObject({
    memoryId: idSchema,
    expectedRevision: z.int().min(1),
    content: memoryContent,
    clientRequestId,
  }),
  'memory.list': z.strictObject({
    ...page(limits.memoryCursorChars),
    scope: memoryScopeSchema.optional(),
    kind: memoryKindSchema.optional(),
    state: z.enum(['active', 'forgotten']).default('active'),
  }),
  'memory.get': z.strictObject({ memoryId: idSchema }),
  'process.read': z.strictObject({ threadId: idSchema, processId: idSchema, cursor: z.int().min(0).default(0) }),
  'process.stop': z.strictObject({ threadId: idSchema, processId: idSchema }),
  'channel.list': z.strictObject({}),
  'channel.configure': z.strictObject({
    kind: z.literal('webhook'),
    name: webhookNameSchema,
    enabled: z.boolean().default(true),
    /** Absent keeps the saved secret; the first configuration needs one of at least 16 characters. */
    secret: z.string().min(16).max(limits.apiKeyChars).optional(),
    answerUrl: baseUrlSchema.nullish(),
    providerId: providerIdSchema,
    modelId: printable(limits.modelIdChars),
  }),
  'runtime.shutdown': z.strictObject({}),
  'auth.create_code': z.strictObject({}),
  'token.rotate': z.strictObject({}),
  'system.status': z.strictObject({}),
} as const;

export type RpcMethod = keyof typeof rpcParams;
export type RpcParams<M extends RpcMethod> = z.infer<(typeof rpcParams)[M]>;

/** Methods that exist only for clients of protocol 13 and newer. */
export const newMethods: readonly RpcMethod[] = [
  'event.subscribe',
  'auth.create_code',
  'token.rotate',
  'system.status',
];

export const PROTOCOL_VERSIONS = [12, 13] as const;
export const SERVER = { name: 'rookery', version: '0.1.0' } as const;

export const rpcMethods = Object.keys(rpcParams).filter((method) => method !== 'initialize') as RpcMethod[];
