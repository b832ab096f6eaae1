import { processIdOf, type ToolResult } from '@rookery/protocol';
import type { ProcessFiles, ProcessMeta } from './processes/process-files.ts';
import type { BegunCall, Receipts } from './receipts.ts';
import { toolResult } from './tool-call.ts';
import { isGood, processDetails } from './tools/process-result.ts';

/**
 * After a start of the runner: settles the calls that the one before left running. Of a started command its own record
 * tells the result; every other call with effects is lost, since nobody knows how far it came.
 */
export function recoverCalls(receipts: Receipts, files: ProcessFiles): void {
  for (const call of receipts.interrupted()) {
    if (call.toolName !== 'process_start') {
      receipts.lose(call.itemId);
      continue;
    }
    const meta = files.load(call.threadId, processIdOf(call.runId, call.itemId));
    // Its record is made before anything else, so without one nothing was started.
    if (meta === null) receipts.forget(call.itemId);
    else if (meta.pid === null) receipts.lose(call.itemId);
    else receipts.finish(call.itemId, startResult(call, meta));
  }
}

function startResult(call: BegunCall, meta: ProcessMeta): ToolResult {
  const details = processDetails(meta, { cursor: 0, nextCursor: 0, hasMore: false });
  const output = `Started ${meta.processId} (pid ${meta.pid}) in ${meta.cwd}.`;
  return toolResult(call.callId, call.toolName, { ok: isGood(meta), output, details });
}
