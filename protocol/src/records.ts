import * as z from 'zod';
import { limits } from './limits.ts';

/** Records that events and RPC results share. Field sets: seed-ikaros section 6.16 and the protocol tables. */

export const idSchema = z.string().min(1).max(limits.identifierChars);
export const timeSchema = z.iso.datetime({ precision: 3 });
const text = (max: number) => z.string().min(1).max(max);

export const workspaceSchema = z.strictObject({
  id: text(limits.workspaceTextChars),
  name: text(limits.workspaceTextChars),
  kind: z.enum(['project', 'managed']),
  rootUri: text(limits.pathChars),
});

export const threadSchema = z.strictObject({
  id: idSchema,
  title: z.string().max(limits.titleChars).nullable(),
  defaultBranchId: idSchema,
  workspace: workspaceSchema.nullable(),
  createdAt: timeSchema,
  updatedAt: timeSchema,
  archivedAt: timeSchema.nullable(),
});

export const branchSchema = z.strictObject({
  id: idSchema,
  threadId: idSchema,
  createdAt: timeSchema,
  isDefault: z.literal(true),
});

export const runStatusSchema = z.enum(['queued', 'running', 'completed', 'failed', 'cancelled']);
export const settledStatusSchema = z.enum(['completed', 'failed', 'cancelled']);

export const turnSchema = z.strictObject({
  id: idSchema,
  threadId: idSchema,
  branchId: idSchema,
  ordinal: z.int().min(1),
  status: runStatusSchema,
  createdAt: timeSchema,
  updatedAt: timeSchema,
});

export const skillRefSchema = z.strictObject({ name: z.string(), description: z.string(), location: z.string() });

export const runSchema = z.strictObject({
  id: idSchema,
  turnId: idSchema,
  providerId: idSchema,
  modelId: text(limits.modelIdChars),
  executionPolicy: z.literal('full_access'),
  status: z.literal('queued'),
  createdAt: timeSchema,
  settledAt: z.null(),
  skills: z.array(skillRefSchema),
  clientRequestId: z.string().max(limits.clientRequestIdChars).optional(),
});

/** A long string that lives in the object store; the gateway puts it back before anything leaves. */
export const blobRefSchema = z.strictObject({
  blob: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.int().min(1),
  head: z.string(),
});
export const longTextSchema = z.union([z.string(), blobRefSchema]);

export const itemStatusSchema = z.enum(['streaming', 'running', 'completed', 'failed', 'cancelled']);
export const itemSchema = z.strictObject({
  id: idSchema,
  turnId: idSchema,
  runId: idSchema,
  ordinal: z.int().min(1),
  kind: z.enum(['message', 'tool_call', 'tool_result']),
  role: z.enum(['user', 'assistant', 'tool']).nullable(),
  status: itemStatusSchema,
  content: longTextSchema,
  data: z.record(z.string(), z.unknown()),
  createdAt: timeSchema,
  updatedAt: timeSchema,
});

const count = z.int().min(0);
export const usageSchema = z.strictObject({
  inputTokens: count,
  cachedInputTokens: count.nullable(),
  outputTokens: count,
  reasoningOutputTokens: count.nullable(),
  totalTokens: count,
});

export const processStateSchema = z.enum(['running', 'exited', 'terminated', 'unknown']);
export const processSchema = z.strictObject({
  processId: idSchema,
  threadId: idSchema,
  runId: idSchema,
  stepOrdinal: z.int().min(1),
  itemId: idSchema,
  command: longTextSchema,
  cwd: z.string(),
  state: processStateSchema,
  exitCode: z.int().nullable(),
  pid: z.int().nullable(),
  startedAt: timeSchema.nullable(),
  finishedAt: timeSchema.nullable(),
  stdout: longTextSchema,
  stderr: longTextSchema,
  output: longTextSchema,
  truncated: z.boolean(),
  errorCode: z.string().nullable(),
  background: z.boolean(),
});

export const toolDefinitionSchema = z.strictObject({
  name: idSchema,
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()),
  definitionSha256: z.string().length(64),
});

/** What a turn is run with, frozen when it is submitted. */
export const runConfigSchema = z.strictObject({
  userItemId: idSchema,
  threadId: idSchema,
  branchId: idSchema,
  turnId: idSchema,
  runId: idSchema,
  workspace: workspaceSchema.nullable(),
  providerId: idSchema,
  modelId: text(limits.modelIdChars),
  publicProviderConfigFingerprint: z.string().length(64),
  executionPolicy: z.literal('full_access'),
  skills: z.array(skillRefSchema),
  tools: z.array(toolDefinitionSchema),
  instructions: z.strictObject({
    outputStyle: longTextSchema.nullable(),
    identityCore: longTextSchema,
    skillCatalog: longTextSchema.nullable(),
  }),
  contextWindow: z.int().min(1),
});

export type Workspace = z.infer<typeof workspaceSchema>;
export type Thread = z.infer<typeof threadSchema>;
export type Branch = z.infer<typeof branchSchema>;
export type Turn = z.infer<typeof turnSchema>;
export type Run = z.infer<typeof runSchema>;
export type Item = z.infer<typeof itemSchema>;
export type ItemStatus = z.infer<typeof itemStatusSchema>;
export type RunStatus = z.infer<typeof runStatusSchema>;
export type SettledStatus = z.infer<typeof settledStatusSchema>;
export type Usage = z.infer<typeof usageSchema>;
export type ProcessRecord = z.infer<typeof processSchema>;
export type ToolDefinition = z.infer<typeof toolDefinitionSchema>;
export type RunConfig = z.infer<typeof runConfigSchema>;
export type BlobRef = z.infer<typeof blobRefSchema>;
export type LongText = z.infer<typeof longTextSchema>;

/** True where a value stands for a string in the object store. */
export function isBlobRef(value: unknown): value is BlobRef {
  return blobRefSchema.safeParse(value).success;
}
