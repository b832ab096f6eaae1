import type { ProcessMeta } from './process-files.ts';

/** How a command ended: its exit status as a shell tells it, or null where a signal ended the shell itself. */
export interface ProcessEnd {
  /** False where nobody saw the end and nothing tells of it. */
  readonly observed: boolean;
  readonly status: number | null;
}

/** A shell's way of saying that signal n ended a command: 128 + n. */
const SIGNAL_STATUS = 128;
const LAST_SIGNAL = 31;

/** The state of a command that has ended. */
export function endState(
  { observed, status }: ProcessEnd,
  stopping: boolean,
): Pick<ProcessMeta, 'state' | 'exitCode' | 'errorCode'> {
  if (stopping) return { state: 'terminated', exitCode: null, errorCode: 'terminated' };
  if (!observed) return { state: 'unknown', exitCode: null, errorCode: 'exit_unobserved' };
  const bySignal = status === null || (status > SIGNAL_STATUS && status <= SIGNAL_STATUS + LAST_SIGNAL);
  if (bySignal) return { state: 'terminated', exitCode: null, errorCode: 'killed_by_signal' };
  return { state: 'exited', exitCode: status, errorCode: status === 0 ? null : 'nonzero_exit' };
}
