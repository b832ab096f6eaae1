import type { ProcessPage, ProcessRecord } from '../wire/types.ts';
import type { ToolResultView } from './tool-call.ts';

/** Output that a person asked for, and the event's record that was known when it came. */
export interface LoadedOutput {
  text: string;
  page: ProcessPage;
  record: ProcessRecord | null;
}

export interface ProcessView {
  state: string;
  text: string;
  exitCode: number | null;
  errorCode: string | null;
}

/**
 * What is known of a command from the three places that tell of it. A command that has ended never runs again, so an end
 * wins from wherever it comes; else the record of a later event wins over what was loaded before it.
 */
export function processView(
  loaded: LoadedOutput | null,
  record: ProcessRecord | null,
  outcome: ToolResultView | null,
): ProcessView {
  const newer = record !== null && record !== loaded?.record;
  const ended = record !== null && record.state !== 'running';
  const fromRecord = record !== null && (loaded === null || ended || (newer && loaded.page.state === 'running'));
  const facts = fromRecord ? record : loaded?.page;
  // A record has only the end of a long output.
  const whole = newer && fromRecord && !record.truncated;
  return {
    state: facts?.state ?? outcome?.processState ?? 'unknown',
    text: (whole || !loaded ? record?.output : loaded.text) || (loaded?.text ?? outcome?.output ?? ''),
    exitCode: facts?.exitCode ?? outcome?.exitCode ?? null,
    errorCode: facts?.errorCode ?? outcome?.errorCode ?? null,
  };
}
