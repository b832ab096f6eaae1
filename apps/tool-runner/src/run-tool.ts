import { isAbsolute } from 'node:path';
import type { PathLocks } from '@rookery/sandbox';
import { type ToolName, toolParameters } from './definitions.ts';
import { checkArguments } from './parameters.ts';
import type { ProcessTable } from './processes/process-table.ts';
import { refusal, type ToolContext, ToolFailure, type ToolOutcome } from './tool-call.ts';
import { editTool } from './tools/edit.ts';
import { globTool } from './tools/glob.ts';
import { grepTool } from './tools/grep.ts';
import { listTool } from './tools/list.ts';
import { processReadTool } from './tools/process-read.ts';
import { processStartTool } from './tools/process-start.ts';
import { processStopTool } from './tools/process-stop.ts';
import { processWaitTool } from './tools/process-wait.ts';
import { readTool } from './tools/read.ts';
import { writeTool } from './tools/write.ts';

/** What the tools of one runner share. */
export interface ToolPorts {
  readonly locks: PathLocks;
  readonly processes: ProcessTable;
  /** Told of what no error code stands for. */
  readonly report: (error: unknown) => void;
}

/** Runs a tool with arguments that nobody has checked. Whatever goes wrong is in the outcome; it never rejects. */
export async function runTool(
  name: ToolName,
  args: unknown,
  context: ToolContext,
  ports: ToolPorts,
): Promise<ToolOutcome> {
  try {
    if (!isAbsolute(context.workspaceRoot)) {
      throw new ToolFailure('invalid_workspace', 'The thread has no workspace folder on this machine.');
    }
    return await tools[name](args, context, ports);
  } catch (error) {
    if (error instanceof ToolFailure) return refusal(error.errorCode, error.message, error.errorCode === 'cancelled');
    ports.report(error);
    return refusal('tool_failed', 'The tool failed in a way that it does not know; what it has done is not known.');
  }
}

type UncheckedTool = (args: unknown, context: ToolContext, ports: ToolPorts) => Promise<ToolOutcome>;

const tools: { readonly [N in ToolName]: UncheckedTool } = {
  read: checked('read', (args, context) => readTool(args, context)),
  write: checked('write', (args, context, { locks }) => writeTool(args, context, locks)),
  edit: checked('edit', (args, context, { locks }) => editTool(args, context, locks)),
  list: checked('list', (args, context) => listTool(args, context)),
  glob: checked('glob', (args, context) => globTool(args, context)),
  grep: checked('grep', (args, context) => grepTool(args, context)),
  process_start: checked('process_start', (args, context, { processes }) => processStartTool(args, context, processes)),
  process_read: checked('process_read', (args, context, { processes }) => processReadTool(args, context, processes)),
  process_wait: checked('process_wait', (args, context, { processes }) => processWaitTool(args, context, processes)),
  process_stop: checked('process_stop', (args, context, { processes }) => processStopTool(args, context, processes)),
};

type ArgumentsOf<N extends ToolName> = Extract<
  ReturnType<typeof checkArguments<(typeof toolParameters)[N]>>,
  { ok: true }
>['value'];

function checked<N extends ToolName>(
  name: N,
  run: (args: ArgumentsOf<N>, context: ToolContext, ports: ToolPorts) => Promise<ToolOutcome>,
): UncheckedTool {
  return async (args, context, ports) => {
    const outcome = checkArguments(toolParameters[name], args);
    if (!outcome.ok) throw new ToolFailure('invalid_arguments', `Invalid arguments: ${outcome.reason}.`);
    return run(outcome.value, context, ports);
  };
}
