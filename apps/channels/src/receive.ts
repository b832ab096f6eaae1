import type { CommandHandler } from '@rookery/bus';
import { DEFAULT_CHAT, decideReceiveDelivery, deliveryBodySha256, deliveryIdsOf, isRefusal } from '@rookery/kernel';
import {
  AppError,
  commandIdOf,
  commitId,
  formatSubject,
  type HookReceive,
  hookReceiveSchema,
  seqOf,
  writerName,
} from '@rookery/protocol';
import type { Attempt } from '@rookery/read-model';
import { faultPoint } from '@rookery/service';
import type { ChannelPorts } from './channel-ports.ts';
import type { Forwarder } from './forwarder.ts';
import type { HookGuard } from './hook-guard.ts';
import type { Db } from './model.ts';
import { type Chat, loadDelivery, WEBHOOK } from './views.ts';

interface ReceiveResult {
  deliveryId: string;
  threadId: string;
  turnId: string;
  runId: string;
}

type Reply = { result: ReceiveResult; seq?: number };

function parse(params: unknown): HookReceive {
  const parsed = hookReceiveSchema.safeParse(params);
  if (parsed.success) return parsed.data;
  throw new AppError('INVALID_PARAMS', { details: { path: parsed.error.issues[0]?.path.join('.') ?? '' } });
}

/**
 * The command `hook.receive`: a delivery is acknowledged when channel.received is stored, and its thread and turn follow.
 * Codes: HOOK_REFUSED, CONTENT_EMPTY, CONTENT_TOO_LARGE, IDEMPOTENCY_CONFLICT, THREAD_DAMAGED, and those of append.
 */
export function receiveHandler(ports: ChannelPorts, guard: HookGuard, forwarder: Forwarder): CommandHandler {
  return async ({ params, world, agentId }) => {
    const { name, secret, deliveryId, body } = parse(params);
    const hook = await guard.admit(name, secret);
    const chat: Chat = { world, account: name, chat: body.chat ?? DEFAULT_CHAT };
    const ids = deliveryIdsOf(ports.homeId, name, chat.chat, deliveryId);
    const subject = formatSubject({ kind: 'channel', world, channel: WEBHOOK, account: name, chat: chat.chat });
    // With the body in it, a commit of this id can only be this delivery's own.
    const scope = `${name}:${deliveryBodySha256(chat.chat, body.content)}`;
    const cause = commandIdOf(ports.homeId, 'hook.receive', scope, deliveryId);
    const result: ReceiveResult = { deliveryId, threadId: ids.threadId, turnId: ids.turnId, runId: ids.runId };

    const attempt = (db: Db): Attempt<Reply> => {
      const decision = decideReceiveDelivery(loadDelivery(db, chat, deliveryId), {
        deliveryId,
        chat: chat.chat,
        content: body.content,
        ids,
        providerId: hook.providerId,
        modelId: hook.modelId,
        answerUrl: hook.answerUrl,
        receivedAt: ports.now().toISOString(),
      });
      if (isRefusal(decision)) return decision;
      if (decision.kind === 'replay') return { kind: 'done', result: { result } };
      faultPoint('channels:before-append');
      return {
        kind: 'append',
        commit: {
          id: commitId(subject, cause, 0),
          cause,
          by: writerName('channels', ports.instance),
          agentId,
          events: decision.events,
        },
        stored: (streamSeq) => {
          faultPoint('channels:after-append');
          return { result, seq: seqOf(streamSeq, 0) };
        },
      };
    };
    const reply = await ports.append(subject, ids.threadId, attempt);
    // The caller is not kept waiting: from here on the delivery is in the journal, and a sweep repeats what fails.
    if (reply.seq !== undefined) {
      const { providerId, modelId } = hook;
      forwarder.forward({
        ...chat,
        agentId,
        deliveryId,
        threadId: ids.threadId,
        runId: ids.runId,
        providerId,
        modelId,
        contentJson: JSON.stringify(body.content),
      });
    }
    return reply;
  };
}
