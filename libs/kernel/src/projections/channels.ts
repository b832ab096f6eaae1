import {
  type Commit,
  type CommitEvent,
  type EventPayload,
  parseSubject,
  type StoredCommit,
  seqOf,
} from '@rookery/protocol';
import { channelsDdl } from './channels-ddl.ts';
import { defineProjection, type SqlRow, type Write } from './projection.ts';

interface Chat {
  world: string;
  channel_id: string;
  account_id: string;
  chat_id: string;
}

function received(chat: Chat, commit: Commit, seq: number, delivery: EventPayload<'channel.received'>): Write[] {
  const ids: SqlRow = {
    agent_id: commit.agentId,
    delivery_id: delivery.deliveryId,
    thread_id: delivery.threadId,
    turn_id: delivery.turnId,
    run_id: delivery.runId,
  };
  const writes: Write[] = [
    {
      table: 'channel_bindings',
      op: 'upsert',
      key: { ...chat },
      set: { agent_id: commit.agentId, thread_id: delivery.threadId, updated_at: commit.at },
    },
    {
      table: 'channel_deliveries',
      op: 'insert',
      key: { received_seq: seq },
      set: {
        ...chat,
        ...ids,
        body_sha256: delivery.bodySha256,
        content_json: JSON.stringify(delivery.content),
        provider_id: delivery.providerId,
        model_id: delivery.modelId,
        received_at: delivery.receivedAt,
      },
    },
  ];
  if (delivery.answerUrl !== null) {
    writes.push({
      table: 'channel_outbox',
      op: 'insert',
      key: { id: seq },
      set: {
        ...chat,
        ...ids,
        answer_url: delivery.answerUrl,
        status: 'waiting',
        created_at: commit.at,
        updated_at: commit.at,
      },
    });
  }
  return writes;
}

function finished(commit: Commit, finish: EventPayload<'channel.delivery_finished'>): Write[] {
  const { runId, status, attempts, errorCode } = finish;
  const set = { status, attempts, last_error_code: errorCode, updated_at: commit.at };
  const answer: Write = { table: 'channel_outbox', op: 'update', key: { run_id: runId }, set };
  if (status !== 'failed') return [answer];
  const delivery = { failed_code: errorCode, content_json: null };
  return [answer, { table: 'channel_deliveries', op: 'update', key: { run_id: runId }, set: delivery }];
}

/** Threads and turns: only rows that a delivery made before are touched, so other conversations change nothing. */
function conversation({ type, payload }: CommitEvent, commit: Commit): Write[] {
  if (type === 'thread.created') {
    const { thread, branch } = payload as EventPayload<'thread.created'>;
    const set = { branch_id: branch.id, created_at: thread.createdAt };
    return [{ table: 'channel_bindings', op: 'update', key: { thread_id: thread.id }, set }];
  }
  if (type !== 'item.completed' || !('run' in payload)) return [];
  const { run } = payload as Extract<EventPayload<'item.completed'>, { run: unknown }>;
  const set = { submitted_at: commit.at, content_json: null };
  return [{ table: 'channel_deliveries', op: 'update', key: { run_id: run.id }, set }];
}

function runEvent({ type, payload }: CommitEvent, runId: string, commit: Commit): Write[] {
  if (type === 'item.completed') {
    const { item } = payload as EventPayload<'item.completed'>;
    if (item.role !== 'assistant' || item.kind !== 'message' || item.content === '') return [];
    // The last message of the assistant wins.
    const set = { text_json: JSON.stringify(item.content) };
    return [{ table: 'channel_outbox', op: 'update', key: { run_id: runId, status: 'waiting' }, set }];
  }
  if (type !== 'run.settled') return [];
  const { status, reasonCode } = payload as EventPayload<'run.settled'>;
  const set = { status: 'pending', run_status: status, reason_code: reasonCode ?? null, updated_at: commit.at };
  return [{ table: 'channel_outbox', op: 'update', key: { run_id: runId, status: 'waiting' }, set }];
}

function project({ subject, commit, streamSeq }: StoredCommit): Write[] {
  const place = parseSubject(subject);
  switch (place?.kind) {
    case 'channel': {
      const chat = { world: place.world, channel_id: place.channel, account_id: place.account, chat_id: place.chat };
      return commit.events.flatMap(({ type, payload }, index) => {
        if (type === 'channel.received') {
          return received(chat, commit, seqOf(streamSeq, index), payload as EventPayload<'channel.received'>);
        }
        if (type === 'channel.delivery_finished') {
          return finished(commit, payload as EventPayload<'channel.delivery_finished'>);
        }
        return [];
      });
    }
    case 'turns':
      return commit.events.flatMap((event) => conversation(event, commit));
    case 'run':
      return commit.events.flatMap((event) => runEvent(event, place.runId, commit));
    default:
      return [];
  }
}

/** channels.db: bindings, deliveries and the outbox of answers, from stream JOURNAL. */
export const channelsProjection = defineProjection({ name: 'channels', revision: 1, ddl: channelsDdl, project });
