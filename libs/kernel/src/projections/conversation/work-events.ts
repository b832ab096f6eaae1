import type { Write } from '../projection.ts';
import { type Handler, owned } from './scope.ts';

/** Model calls, context, processes and files of a run. */

const contextRevision = (runId: string, revision: number, record: unknown, owner: Write['set'] & object): Write => ({
  table: 'context_revisions',
  op: 'upsert',
  key: { run_id: runId, revision },
  set: { ...owner, record_json: JSON.stringify(record) },
});

export const inputPrepared: Handler<'model.input_prepared'> = (payload, scope) => {
  const { stepOrdinal, preparedAt, stepInput, contextRevision: record } = payload;
  const runId = scope.runId();
  const call: Write = {
    table: 'model_calls',
    op: 'insert',
    key: { run_id: runId, call_ordinal: stepOrdinal },
    set: owned(scope, {
      step_ordinal: stepOrdinal,
      input_json: JSON.stringify(stepInput),
      prepared_at: preparedAt,
      purpose: 'execution',
    }),
  };
  return record === null ? [call] : [contextRevision(runId, record.revision, record, scope.owner), call];
};

export const responseFinished: Handler<'model.response_finished'> = (payload, scope) => {
  const { stepOrdinal, usage, activityDate, finishedAt } = payload;
  const key = { run_id: scope.runId(), call_ordinal: stepOrdinal };
  const call: Write = {
    table: 'model_calls',
    op: 'update',
    key,
    set: {
      outcome: payload.outcome,
      reason_code: payload.reasonCode,
      response_model_id: payload.responseModelId,
      request_id: payload.requestId,
      usage_json: usage === null ? null : JSON.stringify(usage),
      activity_date: activityDate,
      finished_at: finishedAt,
    },
  };
  if (usage === null) return [call];
  const used: Write = {
    table: 'model_usages',
    op: 'insert',
    key,
    set: owned(scope, {
      thread_id: scope.threadId,
      turn_id: scope.turnId(),
      step_ordinal: stepOrdinal,
      provider_id: payload.providerId,
      model_id: payload.modelId,
      input_tokens: usage.inputTokens,
      cached_input_tokens: usage.cachedInputTokens,
      output_tokens: usage.outputTokens,
      reasoning_output_tokens: usage.reasoningOutputTokens,
      total_tokens: usage.totalTokens,
      activity_date: activityDate,
      completed_at: finishedAt,
    }),
  };
  return [call, used];
};

export const compacted: Handler<'context.compacted'> = ({ contextRevision: record }, scope) => {
  const revision = (record as { revision?: unknown } | null | undefined)?.revision;
  return typeof revision === 'number' ? [contextRevision(scope.runId(), revision, record, scope.owner)] : [];
};

/** The last record of a process wins; its owner is the last one who wrote it: the runner of the thread. */
export const processRecorded: Handler<'process.recorded'> = ({ process }, scope) => [
  {
    table: 'process_sessions',
    op: 'upsert',
    key: { process_id: process.processId },
    set: owned(scope, {
      run_id: process.runId,
      item_id: process.itemId,
      thread_id: scope.threadId,
      state: process.state,
      background: process.background ? 1 : 0,
      record_json: JSON.stringify(process),
    }),
  },
];

export const fileChangeRecorded: Handler<'file.change_recorded'> = (payload, scope, { itemId }) => {
  const { toolCallItemId = itemId } = payload;
  if (typeof toolCallItemId !== 'string') throw new TypeError('a file change names its tool call');
  const set = owned(scope, { record_json: JSON.stringify(payload) });
  return [{ table: 'file_changes', op: 'upsert', key: { tool_call_item_id: toolCallItemId }, set }];
};
