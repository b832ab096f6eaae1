import type { ToolResult } from '@rookery/protocol';
import type { JsonValue } from './parameters.ts';

/** What a tool knows of the call that it serves. */
export interface ToolContext {
  readonly world: string;
  readonly agentId: string;
  readonly threadId: string;
  readonly branchId: string;
  readonly turnId: string;
  readonly runId: string;
  readonly itemId: string;
  readonly stepOrdinal: number;
  /** Absolute folder that relative paths start from. */
  readonly workspaceRoot: string;
  /** Absolute folder that `~` stands for. */
  readonly userHome: string;
  /** Aborted by cancel; only readers and waits heed it, and a start whose intent the journal has not taken yet. */
  readonly signal: AbortSignal;
}

/** What a tool answers with, before the names of the call are put on it. */
export interface ToolOutcome {
  readonly ok: boolean;
  readonly output: string;
  readonly cancelled?: boolean;
  readonly details: { readonly [key: string]: JsonValue };
}

/** Thrown inside a tool for whatever ends the call with an error code of the tool table; turned into a result once. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
  readonly errorCode: string;

  constructor(errorCode: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.errorCode = errorCode;
  }
}

/** The outcome of a call that did nothing, or of which nothing can be told. */
export function refusal(errorCode: string, output: string, cancelled = false): ToolOutcome {
  return { ok: false, output, cancelled, details: { durationMs: 0, truncated: false, errorCode } };
}

/** Puts the names of the call on an outcome. */
export function toolResult(callId: string, toolName: string, outcome: ToolOutcome): ToolResult {
  const { ok, output, cancelled = false, details } = outcome;
  return { toolCallId: callId, toolName, ok, output, cancelled, ...details };
}

/** Throws the failure `cancelled` if the call was cancelled. */
export function throwIfCancelled(signal: AbortSignal): void {
  if (signal.aborted) throw new ToolFailure('cancelled', 'The call was cancelled.');
}

/** The error code of the operating system (ENOENT, …) in whatever was thrown, or an empty text. */
export function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
