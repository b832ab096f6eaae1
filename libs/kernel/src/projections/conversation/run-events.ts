import { type LongText, type Submission, steerFollowUpRequestId } from '@rookery/protocol';
import type { Write } from '../projection.ts';
import { writeItem } from './item-row.ts';
import { longTextColumns } from './rows.ts';
import { type Handler, owned, type Scope } from './scope.ts';
import { bumpThread } from './thread-events.ts';

/** A turn enters the queue of its thread. */
export function submitted(submission: Submission, scope: Scope): Write[] {
  const { turn, run, item, runConfig } = submission;
  const clientRequestId = submission.clientRequestId ?? null;
  const writes: Write[] = [
    {
      table: 'turns',
      op: 'insert',
      key: { id: turn.id },
      set: owned(scope, {
        thread_id: scope.threadId,
        branch_id: turn.branchId,
        ordinal: turn.ordinal,
        status: turn.status,
        submitted_seq: scope.streamSeq,
        created_at: turn.createdAt,
        updated_at: turn.updatedAt,
      }),
    },
    {
      table: 'runs',
      op: 'insert',
      key: { id: run.id },
      set: owned(scope, {
        turn_id: turn.id,
        thread_id: scope.threadId,
        branch_id: turn.branchId,
        provider_id: run.providerId,
        model_id: run.modelId,
        status: run.status,
        created_at: run.createdAt,
        client_request_id: clientRequestId,
        params_sha256: scope.accepted?.paramsSha256 ?? null,
        authorization_json: scope.accepted?.authorization ? JSON.stringify(scope.accepted.authorization) : null,
        execution_policy: run.executionPolicy,
      }),
    },
    writeItem(item, scope),
    {
      table: 'run_configs',
      op: 'insert',
      key: { run_id: run.id },
      set: owned(scope, { config_json: JSON.stringify(runConfig) }),
    },
    bumpThread(scope),
  ];
  if (clientRequestId !== null) {
    const key = { thread_id: scope.threadId, follow_up_request_id: clientRequestId };
    writes.push({ table: 'pending_steers', op: 'delete', key });
  }
  return writes;
}

const updateRun = (runId: string, set: Write['set'] & object): Write => ({
  table: 'runs',
  op: 'update',
  key: { id: runId },
  set,
});

/** Every commit on a run's subject moves its head. */
export function runHead(runId: string, streamSeq: number): Write {
  return updateRun(runId, { last_stream_seq: streamSeq });
}

export const claimed: Handler<'run.claimed'> = ({ holder, epoch }, scope) => [
  updateRun(scope.runId(), { holder, epoch }),
];

const updateTurn = (scope: Scope, status: string): Write => ({
  table: 'turns',
  op: 'update',
  key: { id: scope.turnId() },
  set: { status, updated_at: scope.at },
});

/** `queued` is part of the submission, which wrote it already. */
export const stateChanged: Handler<'run.state_changed'> = ({ status }, scope) =>
  status === 'queued' ? [] : [updateRun(scope.runId(), { status, started_at: scope.at }), updateTurn(scope, status)];

export const settled: Handler<'run.settled'> = ({ status, settledAt, reasonCode }, scope) => [
  updateRun(scope.runId(), { status, settled_at: settledAt, reason_code: reasonCode ?? null }),
  updateTurn(scope, status),
  bumpThread(scope),
];

const pendingSteer = (itemId: string, content: LongText, scope: Scope, more: Write['set'] & object): Write => ({
  table: 'pending_steers',
  op: 'upsert',
  key: { item_id: itemId },
  set: owned(scope, {
    run_id: scope.runId(),
    turn_id: scope.turnId(),
    branch_id: scope.branchId(),
    thread_id: scope.threadId,
    ...longTextColumns(content),
    follow_up_request_id: steerFollowUpRequestId(scope.runId(), itemId),
    ...more,
  }),
});

export const steered: Handler<'run.steered'> = ({ content, clientRequestId, item }, scope, { seq }) => [
  writeItem(item, scope, scope.accepted?.paramsSha256 ?? null),
  pendingSteer(item.id, content, scope, { client_request_id: clientRequestId, received_seq: seq, left_at: null }),
];

/** Stays until the turn made from it is seen: its client request id is derived from run and item. */
export const steersLeft: Handler<'run.steers_left'> = ({ steers }, scope, { seq }) =>
  steers.map((steer) => pendingSteer(steer.itemId, steer.content, scope, { received_seq: seq, left_at: scope.at }));
