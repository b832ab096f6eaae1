import { type Item, runItemIdOf, type SettledStatus } from '@rookery/protocol';
import { type Draft, draft } from '../draft.ts';
import type { RunState } from './state.ts';

export interface SettleContext {
  homeId: string;
  turnId: string;
  runId: string;
  providerId: string;
  modelId: string;
  /** ISO time of the commit. */
  now: string;
}

export interface Outcome {
  status: SettledStatus;
  /** Absent only where the run completed. */
  reasonCode?: string;
}

const TOOL_NOTES: Record<string, string> = {
  cancelled: 'The call was cancelled. Whether it had an effect is unknown.',
  runtime_interrupted: 'The process that made this call ended before the result was stored. Its effect is unknown.',
};

/** Result of a call that nobody waits for any more: a strict provider needs one for every call. */
export function unknownResult(context: SettleContext, call: Item, ordinal: number, reason: string): Item {
  const { callId, toolName, stepId } = call.data as { callId: string; toolName: string; stepId: string };
  const result = {
    toolCallId: callId,
    toolName,
    ok: false,
    output: TOOL_NOTES[reason] ?? 'The call did not finish. Whether it had an effect is unknown.',
    cancelled: reason === 'cancelled',
    errorCode: reason === 'cancelled' ? 'cancelled' : 'effect_unknown',
  };
  return {
    id: runItemIdOf(context.homeId, context.runId, ordinal),
    turnId: context.turnId,
    runId: context.runId,
    ordinal,
    kind: 'tool_result',
    role: 'tool',
    status: reason === 'cancelled' ? 'cancelled' : 'failed',
    content: JSON.stringify(result),
    data: { stepId, callId, toolCallItemId: call.id, toolName },
    createdAt: context.now,
    updatedAt: context.now,
  };
}

function closeStreaming(state: RunState, status: SettledStatus, now: string): Draft[] {
  if (state.streaming === null) return [];
  const { item, text } = state.streaming;
  return [draft('item.completed', { item: { ...item, status, content: text, updatedAt: now } }, item.id)];
}

function closeCalls(state: RunState, status: SettledStatus, reason: string, context: SettleContext): Draft[] {
  return state.openCalls.flatMap(({ item }, index) => {
    const call = { ...item, status, updatedAt: context.now, data: { ...item.data, outcome: status } };
    const result = unknownResult(context, item, state.lastOrdinal + 1 + index, reason);
    return [draft('item.completed', { item: call }, call.id), draft('item.completed', { item: result }, result.id)];
  });
}

function closeSteers(state: RunState, now: string): Draft[] {
  const left = state.steers.filter((steer) => !steer.seen);
  if (left.length === 0) return [];
  const closed = left.map(({ item }) => {
    const data = { ...item.data, status: 'unprocessed' };
    return draft('item.completed', { item: { ...item, status: 'cancelled', data, updatedAt: now } }, item.id);
  });
  const steers = left.map(({ item }) => ({ itemId: item.id, content: item.content }));
  return [...closed, draft('run.steers_left', { steers })];
}

function closeModelCall(state: RunState, status: SettledStatus, reason: string, context: SettleContext): Draft[] {
  if (!state.modelCallOpen) return [];
  return [
    draft('model.response_finished', {
      stepOrdinal: state.stepOrdinal,
      providerId: context.providerId,
      modelId: context.modelId,
      outcome: status,
      reasonCode: reason,
      responseModelId: null,
      requestId: null,
      usage: null,
      activityDate: null,
      finishedAt: context.now,
    }),
  ];
}

/**
 * The last commit of a run: closes everything that is open and settles it. Partial text is kept, open calls get a
 * result that says what is unknown, and steers that no model call has seen are named so that they become turns.
 */
export function settleRun(state: RunState, outcome: Outcome, context: SettleContext): Draft[] {
  const reason = outcome.reasonCode ?? 'agent_error';
  const closing = outcome.status === 'completed' ? 'failed' : outcome.status;
  return [
    ...closeStreaming(state, closing, context.now),
    ...closeModelCall(state, closing, reason, context),
    ...closeCalls(state, closing, reason, context),
    ...closeSteers(state, context.now),
    draft('run.settled', {
      status: outcome.status,
      settledAt: context.now,
      ...(outcome.reasonCode === undefined ? {} : { reasonCode: outcome.reasonCode }),
    }),
  ];
}
