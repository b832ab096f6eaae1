import type { ErrorCode } from '@rookery/protocol';

/** A business refusal: a value that a decision returns, never a throw. */
export interface Refusal {
  refused: ErrorCode;
  details?: Record<string, unknown>;
}

/** A refusal with its code. */
export function refuse(refused: ErrorCode, details?: Record<string, unknown>): Refusal {
  return details === undefined ? { refused } : { refused, details };
}

/** True where a decision refused. */
export function isRefusal(decision: object): decision is Refusal {
  return 'refused' in decision;
}
