import type { ProcessRecord } from '@rookery/protocol';
import type { ProcessMeta } from './process-files.ts';
import type { ProcessLog } from './process-log.ts';

/** Where facts about a command go. Facts of one process are stored in the order in which they were given. */
export interface ProcessFacts {
  /** Stores a fact and waits for that; throws if it could not be stored, or not before `signal` was aborted. */
  record(meta: ProcessMeta, record: ProcessRecord, signal: AbortSignal): Promise<void>;
  /** Stores a fact when it can; a later one may take its place. */
  follow(meta: ProcessMeta, record: ProcessRecord): void;
}

/** How much of the end of an output a fact carries, in bytes; the rest is read page by page. */
export const FACT_OUTPUT_BYTES = 8 * 1024;

/** The fact as the journal has it. Both output streams are one file, so only `output` is filled. */
export function processRecord(meta: ProcessMeta, log: ProcessLog | null): ProcessRecord {
  return {
    processId: meta.processId,
    threadId: meta.threadId,
    runId: meta.runId,
    stepOrdinal: meta.stepOrdinal,
    itemId: meta.itemId,
    command: meta.command,
    cwd: meta.cwd,
    state: meta.state,
    exitCode: meta.exitCode,
    pid: meta.pid,
    startedAt: meta.startedAt,
    finishedAt: meta.finishedAt,
    stdout: '',
    stderr: '',
    output: log?.tail(FACT_OUTPUT_BYTES) ?? '',
    truncated: (log?.total ?? 0) > FACT_OUTPUT_BYTES,
    errorCode: meta.errorCode,
    background: meta.background,
  };
}
