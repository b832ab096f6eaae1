import type { toolParameters } from '../definitions.ts';
import type { Arguments } from '../parameters.ts';
import type { ProcessTable } from '../processes/process-table.ts';
import type { ToolContext, ToolOutcome } from '../tool-call.ts';
import { isGood, processDetails } from './process-result.ts';

/** Ends a command and everything it started; harmless twice. */
export async function processStopTool(
  args: Arguments<typeof toolParameters.process_stop>,
  context: ToolContext,
  processes: ProcessTable,
): Promise<ToolOutcome> {
  const { meta, page } = await processes.stop(context.threadId, args.processId, args.cursor);
  const ok = isGood(meta) || meta.state === 'terminated';
  return { ok, output: page.output, details: processDetails(meta, page) };
}
