import type { JsonValue } from '../parameters.ts';
import type { ProcessMeta } from '../processes/process-files.ts';
import type { LogPage } from '../processes/process-log.ts';
import type { ProcessPage } from '../processes/process-table.ts';

/** The state of a command and the place of a page in its output, as tools and RPC answer it. */
export function processDetails(meta: ProcessMeta, page: Omit<LogPage, 'output'>): { [key: string]: JsonValue } {
  return {
    processId: meta.processId,
    state: meta.state,
    exitCode: meta.exitCode,
    cwd: meta.cwd,
    pid: meta.pid,
    startedAt: meta.startedAt,
    finishedAt: meta.finishedAt,
    cursor: page.cursor,
    nextCursor: page.nextCursor,
    hasMore: page.hasMore,
    truncated: meta.omittedBytes > 0,
    errorCode: meta.errorCode,
  };
}

/** The answer of the methods process.read and process.stop. */
export function processView({ meta, page }: ProcessPage): { [key: string]: JsonValue } {
  return { ...processDetails(meta, page), output: page.output };
}

/** Only an end that was seen and was good counts as success; a command that runs is no failure. */
export function isGood(meta: ProcessMeta): boolean {
  return meta.state === 'running' || (meta.state === 'exited' && meta.exitCode === 0);
}
