import type { toolParameters } from '../definitions.ts';
import type { Arguments } from '../parameters.ts';
import type { ProcessTable } from '../processes/process-table.ts';
import type { ToolContext, ToolOutcome } from '../tool-call.ts';
import { isGood, processDetails } from './process-result.ts';

/** Waits for the end of a command; when the time is over it answers that the command runs. */
export async function processWaitTool(
  args: Arguments<typeof toolParameters.process_wait>,
  context: ToolContext,
  processes: ProcessTable,
): Promise<ToolOutcome> {
  const { threadId, signal } = context;
  const { meta, page } = await processes.wait(threadId, args.processId, args.cursor, args.timeoutMs, signal);
  const details = processDetails(meta, page);
  if (signal.aborted && meta.state === 'running') {
    return { ok: false, cancelled: true, output: page.output, details: { ...details, errorCode: 'cancelled' } };
  }
  return { ok: isGood(meta), output: page.output, details };
}
