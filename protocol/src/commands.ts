import * as z from 'zod';
import { authorizationSchema } from './events.ts';
import { limits } from './limits.ts';
import { idSchema } from './records.ts';

/** `by` of a commit: the service and the instance that wrote it. A run's holder is the instance alone. */
export function writerName(service: string, instance: string): string {
  return `${service}/${instance}`;
}

/** Envelope of a request between services over NATS. Params are checked by the method's own schema. */
export const commandRequestSchema = z.strictObject({
  v: z.literal(1),
  method: z.string().min(1).max(100),
  params: z.unknown(),
  commandId: idSchema,
  agentId: idSchema,
  world: idSchema,
  authorization: authorizationSchema.optional(),
});
export type CommandRequest = z.infer<typeof commandRequestSchema>;

export type CommandReply<T = unknown> =
  | { ok: true; result: T; seq?: number }
  | { ok: false; error: { code: string; message: string; retry: string; details?: Record<string, unknown> } };

/** Result of `cmd.supervisor.any.runtime.status`: what the supervisor has running, and the disk space of its home. */
export interface HouseStatus {
  processes: {
    name: string;
    state: 'starting' | 'running' | 'waiting' | 'failing' | 'stopped';
    /** It ended again and again within the last minute. */
    failing: boolean;
    /** Starts after the first one. */
    restarts: number;
    pid: number | null;
  }[];
  storage: { freeBytes: number | null; low: boolean };
}

/** Parameters of `cmd.tool.<runner>.invoke`. */
export const toolInvokeSchema = z.strictObject({
  itemId: idSchema,
  callId: z.string().min(1).max(500),
  toolName: idSchema,
  arguments: z.record(z.string(), z.unknown()),
  argsSha256: z.string().length(64),
  threadId: idSchema,
  turnId: idSchema,
  runId: idSchema,
  branchId: idSchema,
  stepOrdinal: z.int().min(1),
  /** Stream sequence of the commit that announced the call. */
  intentSeq: z.int().min(1),
  /** Instance that holds the run. */
  holder: z.string().min(1).max(500),
  workspaceRoot: z.string().max(limits.pathChars).nullable(),
  clientRequestId: z.string().max(limits.clientRequestIdChars),
});
export type ToolInvoke = z.infer<typeof toolInvokeSchema>;

/** A tool's result as the model and the journal see it. */
export interface ToolResult {
  toolCallId: string;
  toolName: string;
  ok: boolean;
  output: string;
  cancelled: boolean;
  [detail: string]: unknown;
}

/** Parameters of `cmd.tool.<runner>.inspect`; with `waitMs` the runner answers when the call is done, or after it. */
export const toolInspectSchema = z.strictObject({ itemId: idSchema, waitMs: z.int().min(0).max(5000).default(0) });

/** Parameters of `cmd.tool.<runner>.cancel`. */
export const toolCancelSchema = z.strictObject({ itemId: idSchema });

/** How long invoke may take before it answers `running`, milliseconds; the caller then asks `inspect`. */
export const TOOL_REPLY_MS = 1000;

/** What `cmd.tool.<runner>.describe` answers: definitions without their hash, and which of them only read. */
export interface ToolDescription {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  mutating: boolean;
}

/**
 * Answer of invoke and inspect. `lost`: it was started by a process that is gone, its effect is unknown. `never_seen`:
 * it is safe to invoke it (again).
 */
export type ToolCallState =
  | { state: 'done'; result: ToolResult }
  | { state: 'running' }
  | { state: 'lost' }
  | { state: 'never_seen' };

export const workspacePrepareSchema = z.strictObject({
  threadId: idSchema,
  workspace: z
    .strictObject({
      id: z.string().max(limits.workspaceTextChars).optional(),
      name: z.string().max(limits.workspaceTextChars).optional(),
      rootUri: z.string().min(1).max(limits.pathChars),
      kind: z.literal('project').optional(),
    })
    .nullable(),
});
export type WorkspacePrepare = z.infer<typeof workspacePrepareSchema>;

/** Parameters of `cmd.channels.any.hook.receive`. */
export const hookReceiveSchema = z.strictObject({
  name: z.string().min(1).max(200),
  secret: z.string().max(limits.apiKeyChars).nullable(),
  deliveryId: z.string().min(1).max(limits.deliveryIdChars),
  body: z.strictObject({
    chat: z.string().min(1).max(200).optional(),
    content: z.string().min(1),
  }),
});
export type HookReceive = z.infer<typeof hookReceiveSchema>;
