import { branchIdOf, limits, sha256Hex, threadIdOf, turnIdsOf } from '@rookery/protocol';

/** The chat of a delivery that names none. */
export const DEFAULT_CHAT = 'default';

/** Everything that follows from who a delivery is for: the same delivery meets the same thread and turn for ever. */
export interface DeliveryIds {
  threadRequestId: string;
  turnRequestId: string;
  threadId: string;
  branchId: string;
  turnId: string;
  runId: string;
}

// A name has no colon, so what follows it cannot be taken for a part of it.
function requestId(name: string, rest: string): string {
  const plain = `webhook:${name}:${rest}`;
  return plain.length <= limits.clientRequestIdChars ? plain : `webhook-sha256:${name}:${sha256Hex(rest)}`;
}

/** clientRequestId of the thread of a webhook's chat; a long chat stands in it as its digest. */
export function webhookThreadRequestId(name: string, chat: string): string {
  return requestId(name, chat);
}

/** clientRequestId of a delivery's turn; a long one stands in it as its digest. */
export function webhookTurnRequestId(name: string, chat: string, deliveryId: string): string {
  return requestId(name, `${chat}:${deliveryId}`);
}

/** Ids of the thread, branch, turn and run that a webhook's delivery becomes. */
export function deliveryIdsOf(homeId: string, name: string, chat: string, deliveryId: string): DeliveryIds {
  const threadRequestId = webhookThreadRequestId(name, chat);
  const turnRequestId = webhookTurnRequestId(name, chat, deliveryId);
  const threadId = threadIdOf(homeId, threadRequestId);
  const { turnId, runId } = turnIdsOf(homeId, threadId, turnRequestId);
  return { threadRequestId, turnRequestId, threadId, branchId: branchIdOf(homeId, threadId), turnId, runId };
}

/** Title of the thread of a webhook's chat; it is a parameter of an idempotent request and must never change. */
export function webhookThreadTitle(name: string, chat: string): string {
  const title = chat === DEFAULT_CHAT ? name : `${name}: ${chat}`;
  return title.slice(0, limits.titleChars).trim();
}
