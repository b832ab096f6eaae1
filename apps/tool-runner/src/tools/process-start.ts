import type { toolParameters } from '../definitions.ts';
import { pathKind, toolPath } from '../files/workspace-paths.ts';
import type { Arguments } from '../parameters.ts';
import type { ProcessTable } from '../processes/process-table.ts';
import { type ToolContext, ToolFailure, type ToolOutcome } from '../tool-call.ts';
import { isGood, processDetails } from './process-result.ts';

/** Starts a shell command and comes back at once. */
export async function processStartTool(
  args: Arguments<typeof toolParameters.process_start>,
  context: ToolContext,
  processes: ProcessTable,
): Promise<ToolOutcome> {
  if (args.command.includes('\0')) throw new ToolFailure('invalid_arguments', 'The command holds a NUL character.');
  const cwd = await workingFolder(args.cwd, context);
  const meta = await processes.start({ command: args.command, cwd, background: args.background }, context);
  const details = processDetails(meta, { cursor: 0, nextCursor: 0, hasMore: false });
  return { ok: isGood(meta), output: `Started ${meta.processId} (pid ${meta.pid}) in ${cwd}.`, details };
}

async function workingFolder(cwd: string | null, context: ToolContext): Promise<string> {
  const path = await toolPath(cwd ?? '.', context).catch((error: unknown) => {
    if (error instanceof ToolFailure && error.errorCode === 'invalid_path') throw invalidCwd(error);
    throw error;
  });
  if ((await pathKind(path, 'invalid_cwd')) !== 'folder') throw invalidCwd();
  return path;
}

function invalidCwd(cause?: unknown): ToolFailure {
  return new ToolFailure('invalid_cwd', 'The working folder does not exist or is no folder.', cause);
}
