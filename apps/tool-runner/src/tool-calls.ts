import { setTimeout as pause } from 'node:timers/promises';
import {
  AppError,
  type Authorization,
  canonicalSha256,
  type ToolCallState,
  type ToolInvoke,
  type ToolResult,
} from '@rookery/protocol';
import { isMutating, isToolName } from './definitions.ts';
import type { Receipt, Receipts } from './receipts.ts';
import { type ToolContext, type ToolOutcome, toolResult } from './tool-call.ts';

/** Who a call is for; named by the envelope of the request. */
export interface CallScope {
  readonly world: string;
  readonly agentId: string;
  /** What an edge signed for the person's request, if anything. */
  readonly authorization: Authorization | undefined;
}

/** What carries out calls; each member is one step of a call. */
export interface CallPorts {
  readonly receipts: Receipts;
  readonly userHome: string;
  /** Throws TOOL_STALE where the run is over or another's, TOOL_DENIED where its profile does not allow tools. */
  readonly admit: (call: ToolInvoke, scope: CallScope) => Promise<void>;
  /** Runs the tool; never rejects. */
  readonly run: (call: ToolInvoke, context: ToolContext) => Promise<ToolOutcome>;
  /** Called between the effect and the record of its result. */
  readonly afterEffect: () => void;
  readonly now: () => number;
}

interface Running {
  readonly toolName: string;
  readonly argsSha256: string;
  readonly abort: AbortController;
  readonly state: Promise<ToolCallState>;
}

/**
 * The tool calls of one runner. A call with the same itemId never has its effect twice: it is joined while it runs, its
 * result is given again when it is done, and after a crash in between it is lost. Readers may run again.
 */
export class ToolCalls {
  readonly #ports: CallPorts;
  readonly #running = new Map<string, Running>();
  #closing = false;

  constructor(ports: CallPorts) {
    this.#ports = ports;
  }

  /**
   * Runs a call or gives what is known of it; answers `running` where that takes longer than `withinMs`. Throws
   * INVALID_PARAMS, TOOL_CONFLICT, TOOL_STALE, TOOL_DENIED, SHUTTING_DOWN.
   */
  async invoke(call: ToolInvoke, scope: CallScope, withinMs: number): Promise<ToolCallState> {
    if (canonicalSha256(call.arguments) !== call.argsSha256) {
      throw new AppError('INVALID_PARAMS', { message: 'argsSha256 is not that of the arguments' });
    }
    const running = this.#running.get(call.itemId);
    if (running !== undefined) {
      requireSameCall(running, call);
      return soon(running.state, withinMs);
    }
    const receipt = this.#ports.receipts.find(call.itemId);
    if (receipt !== null) {
      requireSameCall(receipt, call);
      return stateOf(receipt);
    }
    if (this.#closing) throw new AppError('SHUTTING_DOWN');
    return soon(this.#start(call, scope), withinMs);
  }

  /** What is known of a call; waits up to `waitMs` for one that runs. */
  async inspect(itemId: string, waitMs: number): Promise<ToolCallState> {
    const running = this.#running.get(itemId);
    if (running !== undefined && waitMs > 0) {
      // A call that was not admitted leaves no receipt, which the next lines tell.
      await soon(running.state, waitMs).catch(() => undefined);
    }
    if (this.#running.has(itemId)) return { state: 'running' };
    const receipt = this.#ports.receipts.find(itemId);
    return receipt === null ? { state: 'never_seen' } : stateOf(receipt);
  }

  /** Aborts a running reader or wait; a call with effects goes on to its end. */
  cancel(itemId: string): Promise<ToolCallState> {
    this.#running.get(itemId)?.abort.abort();
    return this.inspect(itemId, 0);
  }

  /** Takes no new calls, ends readers and waits, and waits for the rest. */
  async close(): Promise<void> {
    this.#closing = true;
    for (const running of this.#running.values()) running.abort.abort();
    await Promise.allSettled([...this.#running.values()].map((running) => running.state));
  }

  #start(call: ToolInvoke, scope: CallScope): Promise<ToolCallState> {
    const abort = new AbortController();
    // On the list before anything is awaited, so that the same call at the same time is joined.
    const state = this.#perform(call, scope, abort.signal).finally(() => this.#running.delete(call.itemId));
    // Whoever asked may have been told that it runs and be gone by now.
    state.catch(() => undefined);
    this.#running.set(call.itemId, { toolName: call.toolName, argsSha256: call.argsSha256, abort, state });
    return state;
  }

  async #perform(call: ToolInvoke, scope: CallScope, signal: AbortSignal): Promise<ToolCallState> {
    await this.#ports.admit(call, scope);
    const { receipts, now } = this.#ports;
    const startedAt = now();
    const mutating = !isToolName(call.toolName) || isMutating(call.toolName);
    if (mutating) receipts.begin(call, startedAt);
    const outcome = await this.#ports.run(call, contextOf(call, scope, this.#ports.userHome, signal));
    this.#ports.afterEffect();
    if (!mutating && this.#closing && signal.aborted) throw new AppError('SHUTTING_DOWN');
    const result: ToolResult = toolResult(call.callId, call.toolName, outcome);
    if (mutating) receipts.finish(call.itemId, result);
    else receipts.store(call, result, startedAt);
    return { state: 'done', result };
  }
}

async function soon(state: Promise<ToolCallState>, withinMs: number): Promise<ToolCallState> {
  const over = new AbortController();
  try {
    const running = pause(withinMs, { state: 'running' } as const, { signal: over.signal });
    return await Promise.race([state, running]);
  } finally {
    over.abort();
  }
}

/** NOTE: a receipt that says running without a call that runs is one whose result could not be written. */
function stateOf(receipt: Receipt): ToolCallState {
  return receipt.state === 'done' ? { state: 'done', result: receipt.result } : { state: 'lost' };
}

function requireSameCall(known: { toolName: string; argsSha256: string }, call: ToolInvoke): void {
  if (known.toolName === call.toolName && known.argsSha256 === call.argsSha256) return;
  throw new AppError('TOOL_CONFLICT', { details: { itemId: call.itemId } });
}

function contextOf(call: ToolInvoke, scope: CallScope, userHome: string, signal: AbortSignal): ToolContext {
  const { threadId, branchId, turnId, runId, itemId, stepOrdinal } = call;
  const workspaceRoot = call.workspaceRoot ?? '';
  const { world, agentId } = scope;
  return { world, agentId, threadId, branchId, turnId, runId, itemId, stepOrdinal, workspaceRoot, userHome, signal };
}
