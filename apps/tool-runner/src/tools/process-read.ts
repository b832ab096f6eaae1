import type { toolParameters } from '../definitions.ts';
import type { Arguments } from '../parameters.ts';
import type { ProcessTable } from '../processes/process-table.ts';
import type { ToolContext, ToolOutcome } from '../tool-call.ts';
import { isGood, processDetails } from './process-result.ts';

/** Reads a page of a command's output without waiting. */
export async function processReadTool(
  args: Arguments<typeof toolParameters.process_read>,
  context: ToolContext,
  processes: ProcessTable,
): Promise<ToolOutcome> {
  const { meta, page } = processes.read(context.threadId, args.processId, args.cursor);
  return { ok: isGood(meta), output: page.output, details: processDetails(meta, page) };
}
