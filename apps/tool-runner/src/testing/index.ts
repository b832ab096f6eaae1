export type { ProcessMeta } from '../processes/process-files.ts';
export { groupRuns } from '../processes/process-identity.ts';
export { Receipts } from '../receipts.ts';
export { runTool } from '../run-tool.ts';
export { type ToolContext, ToolFailure, toolResult } from '../tool-call.ts';
export { grepTool } from '../tools/grep.ts';
export { makeProcessTable, RememberedFacts } from './process-bench.ts';
export { codeOf, makeContext, makeFolder } from './tool-context.ts';
