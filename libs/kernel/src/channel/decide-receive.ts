import { type CommitEvent, canonicalSha256, type EventPayload, type HookReceive, limits } from '@rookery/protocol';
import { type Refusal, refuse } from '../refusal.ts';
import type { DeliveryIds } from './delivery-ids.ts';

/** What the read model knows of a delivery. */
export interface DeliveryView {
  /** Digest of the body that was stored under the delivery's id in this chat; null = none. */
  bodySha256: string | null;
  /** True where another chat of the webhook has a delivery of this id. */
  usedInOtherChat: boolean;
}

export interface ReceiveDelivery {
  deliveryId: string;
  chat: string;
  content: string;
  ids: DeliveryIds;
  providerId: string;
  modelId: string;
  answerUrl: string | null;
  /** ISO 8601 with milliseconds. */
  receivedAt: string;
}

export type DeliveryDecision =
  | { kind: 'append'; events: CommitEvent[] }
  /** It is stored already. */
  | { kind: 'replay' }
  | Refusal;

/** Digest of what a redelivery must repeat. */
export function deliveryBodySha256(chat: string, content: string): string {
  return canonicalSha256({ chat, content } satisfies HookReceive['body']);
}

/** Codes: CONTENT_EMPTY, CONTENT_TOO_LARGE, IDEMPOTENCY_CONFLICT. */
export function decideReceiveDelivery(view: DeliveryView, command: ReceiveDelivery): DeliveryDecision {
  const { ids, content, chat } = command;
  // What turn.start would refuse for ever must not be acknowledged here.
  if (content.trim() === '') return refuse('CONTENT_EMPTY');
  if (new TextEncoder().encode(content).length > limits.turnContentBytes) {
    return refuse('CONTENT_TOO_LARGE');
  }
  const bodySha256 = deliveryBodySha256(chat, content);
  if (view.bodySha256 === bodySha256) return { kind: 'replay' };
  if (view.bodySha256 !== null || view.usedInOtherChat) return refuse('IDEMPOTENCY_CONFLICT');
  const received: EventPayload<'channel.received'> = {
    deliveryId: command.deliveryId,
    bodySha256,
    content,
    threadId: ids.threadId,
    turnId: ids.turnId,
    runId: ids.runId,
    providerId: command.providerId,
    modelId: command.modelId,
    answerUrl: command.answerUrl,
    receivedAt: command.receivedAt,
  };
  return { kind: 'append', events: [{ type: 'channel.received', payload: received }] };
}
