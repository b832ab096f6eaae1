import type { CommandHandler } from '@rookery/bus';
import {
  AppError,
  type CommandRequest,
  rpcParams,
  TOOL_REPLY_MS,
  toolCancelSchema,
  toolInspectSchema,
  toolInvokeSchema,
  workspacePrepareSchema,
} from '@rookery/protocol';
import { toolDefinitions } from './definitions.ts';
import type { ProcessTable } from './processes/process-table.ts';
import { ToolFailure } from './tool-call.ts';
import type { ToolCalls } from './tool-calls.ts';
import { processView } from './tools/process-result.ts';
import { prepareWorkspace, type WorkspaceOptions } from './workspaces.ts';

/** What the commands of a runner act on. */
export interface RunnerParts {
  readonly runnerId: string;
  readonly calls: ToolCalls;
  readonly processes: ProcessTable;
  readonly workspaces: WorkspaceOptions;
}

/** The commands `cmd.tool.<runner>.<method>` by method. */
export function runnerHandlers({
  runnerId,
  calls,
  processes,
  workspaces,
}: RunnerParts): Record<string, CommandHandler> {
  return {
    describe: async () => ({ result: { runner: runnerId, tools: toolDefinitions } }),
    invoke: async (request) => {
      const call = parse(toolInvokeSchema, request);
      const { world, agentId, authorization } = request;
      return { result: await calls.invoke(call, { world, agentId, authorization }, TOOL_REPLY_MS) };
    },
    inspect: async (request) => {
      const { itemId, waitMs } = parse(toolInspectSchema, request);
      return { result: await calls.inspect(itemId, waitMs) };
    },
    cancel: async (request) => ({ result: await calls.cancel(parse(toolCancelSchema, request).itemId) }),
    'workspace.prepare': async (request) => ({
      result: await prepareWorkspace(parse(workspacePrepareSchema, request), workspaces),
    }),
    'process.read': async (request) => {
      const { threadId, processId, cursor } = parse(rpcParams['process.read'], request);
      return { result: processView(await asAppError(() => processes.read(threadId, processId, cursor))) };
    },
    'process.stop': async (request) => {
      const { threadId, processId } = parse(rpcParams['process.stop'], request);
      return { result: processView(await asAppError(() => processes.stop(threadId, processId, 0))) };
    },
  };
}

interface Schema<T> {
  safeParse(value: unknown): { success: true; data: T } | { success: false };
}

function parse<T>(schema: Schema<T>, request: CommandRequest): T {
  const parsed = schema.safeParse(request.params);
  if (!parsed.success) throw new AppError('INVALID_PARAMS', { details: { method: request.method } });
  return parsed.data;
}

async function asAppError<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    const code = error.errorCode === 'invalid_cursor' ? 'INVALID_CURSOR' : 'PROCESS_NOT_FOUND';
    throw new AppError(code, { cause: error });
  }
}
