import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ToolContext, ToolFailure, type ToolOutcome } from '../tool-call.ts';

/** A new folder of a test's own, with links in its path resolved. */
export function makeFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'tool-runner-')));
}

/** The context of a call in a workspace; the other values may be replaced. */
export function makeContext(workspaceRoot: string, other: Partial<ToolContext> = {}): ToolContext {
  return {
    world: 'home',
    agentId: 'main',
    threadId: 'thread_1',
    branchId: 'branch_1',
    turnId: 'turn_1',
    runId: 'run_1',
    itemId: 'item_1',
    stepOrdinal: 1,
    workspaceRoot,
    userHome: workspaceRoot,
    signal: new AbortController().signal,
    ...other,
  };
}

/** The error code with which a tool ends, or `ok`. */
export async function codeOf(outcome: Promise<ToolOutcome>): Promise<string> {
  try {
    const { ok, details } = await outcome;
    return ok ? 'ok' : String(details.errorCode);
  } catch (error) {
    if (error instanceof ToolFailure) return error.errorCode;
    throw error;
  }
}
