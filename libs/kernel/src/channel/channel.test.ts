import { checkEvent, limits, productionTimings } from '@rookery/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRefusal } from '../refusal.ts';
import { answerBody, answerIdempotencyKey } from './answer.ts';
import { decideFinishDelivery, decideRefusedDelivery } from './decide-finish.ts';
import {
  type DeliveryView,
  decideReceiveDelivery,
  deliveryBodySha256,
  type ReceiveDelivery,
} from './decide-receive.ts';
import { deliveryIdsOf, webhookThreadRequestId, webhookThreadTitle, webhookTurnRequestId } from './delivery-ids.ts';
import { judgePost, outboxBackoffMs, retryAfterMs } from './outbox-policy.ts';

const homeId = '0123456789abcdef0123456789abcdef';
const ids = deliveryIdsOf(homeId, 'ci', 'default', 'd-1');
const unseen: DeliveryView = { bodySha256: null, usedInOtherChat: false };
const command: ReceiveDelivery = {
  deliveryId: 'd-1',
  chat: 'default',
  content: 'The build is red.',
  ids,
  providerId: 'demo',
  modelId: 'demo-1',
  answerUrl: 'https://example.test/answers',
  receivedAt: '2026-01-01T00:00:00.000Z',
};

describe('ids of a delivery', () => {
  it('are the documented request ids while they fit', () => {
    expect(webhookThreadRequestId('ci', 'default')).toBe('webhook:ci:default');
    expect(webhookTurnRequestId('ci', 'default', 'd-1')).toBe('webhook:ci:default:d-1');
  });

  it('always fit, and differ for different deliveries of a thread', () => {
    const part = fc.string({ minLength: 1, maxLength: 200 });
    const name = fc.constantFrom('a', 'a-b', 'x'.repeat(64));
    fc.assert(
      fc.property(name, part, part, part, part, (webhook, chatA, chatB, a, b) => {
        expect(webhookTurnRequestId(webhook, chatA, a).length).toBeLessThanOrEqual(limits.clientRequestIdChars);
        const [one, two] = [deliveryIdsOf(homeId, webhook, chatA, a), deliveryIdsOf(homeId, webhook, chatB, b)];
        expect(one.threadId === two.threadId).toBe(chatA === chatB);
        expect(one.turnId === two.turnId).toBe(chatA === chatB && a === b);
      }),
    );
  });

  it('titles a thread within the limit', () => {
    expect(webhookThreadTitle('ci', 'default')).toBe('ci');
    expect(webhookThreadTitle('ci', 'x'.repeat(200)).length).toBeLessThanOrEqual(limits.titleChars);
  });
});

describe('hook.receive', () => {
  it('stores a delivery once, in a payload that its schema accepts', () => {
    const decision = decideReceiveDelivery(unseen, command);
    expect(decision).toMatchObject({ kind: 'append' });
    if (isRefusal(decision) || decision.kind !== 'append') return;
    for (const event of decision.events) expect(checkEvent(event)).toMatchObject({ ok: true });
    const seen = { bodySha256: deliveryBodySha256('default', command.content), usedInOtherChat: false };
    expect(decideReceiveDelivery(seen, command)).toEqual({ kind: 'replay' });
    const later = { ...command, receivedAt: '2027-01-01T00:00:00.000Z', modelId: 'other', answerUrl: null };
    expect(decideReceiveDelivery(seen, later)).toEqual({ kind: 'replay' });
  });

  it('refuses the same id with another body or for another chat', () => {
    const seen = { bodySha256: deliveryBodySha256('default', 'other'), usedInOtherChat: false };
    expect(decideReceiveDelivery(seen, command)).toEqual({ refused: 'IDEMPOTENCY_CONFLICT' });
    expect(decideReceiveDelivery({ ...unseen, usedInOtherChat: true }, command)).toEqual({
      refused: 'IDEMPOTENCY_CONFLICT',
    });
  });

  it('refuses what no turn could hold', () => {
    const code = (content: string) => decideReceiveDelivery(unseen, { ...command, content });
    expect(code(' \n')).toEqual({ refused: 'CONTENT_EMPTY' });
    expect(code('é'.repeat(128 * 1024 + 1))).toEqual({ refused: 'CONTENT_TOO_LARGE' });
    expect(code('é'.repeat(128 * 1024))).toMatchObject({ kind: 'append' });
  });
});

describe('the end of an answer', () => {
  const finish = {
    runId: ids.runId,
    status: 'sent' as const,
    attempts: 2,
    errorCode: null,
    finishedAt: command.receivedAt,
  };

  it('is written once', () => {
    const event = decideFinishDelivery('pending', finish);
    expect(event).toMatchObject({ payload: { idempotencyKey: answerIdempotencyKey(ids.runId), status: 'sent' } });
    if (event !== null) expect(checkEvent(event)).toMatchObject({ ok: true });
    for (const status of ['sent', 'failed', 'waiting', null] as const)
      expect(decideFinishDelivery(status, finish)).toBeNull();
  });

  it('closes a delivery that was refused for good, while it is open', () => {
    const refused = { ...finish, status: 'failed' as const, errorCode: 'MODEL_NOT_CONFIGURED' };
    const event = decideRefusedDelivery(true, refused);
    expect(event?.payload).toMatchObject({ runId: finish.runId, status: 'failed', errorCode: 'MODEL_NOT_CONFIGURED' });
    expect(decideRefusedDelivery(false, refused)).toBeNull();
  });

  it('has a body whose bytes do not depend on the order of the members', () => {
    const answer = {
      deliveryId: 'd',
      threadId: 't',
      turnId: 'u',
      runId: 'r',
      status: 'failed',
      reasonCode: 'x',
      text: 'y',
    };
    const reversed = Object.fromEntries(Object.entries(answer).reverse()) as typeof answer;
    expect(answerBody(reversed)).toBe(answerBody(answer));
    expect(JSON.parse(answerBody({ ...answer, reasonCode: null }))).not.toHaveProperty('reasonCode');
  });
});

describe('judgePost', () => {
  const now = new Date('2026-01-01T00:00:00.000Z');
  const judge = (status: number, retryAfter: string | null = null, attempt = 1) =>
    judgePost({ status, retryAfter }, attempt, productionTimings, now);

  it.each([200, 202, 204])('takes %d as delivered', (status) => expect(judge(status)).toEqual({ kind: 'sent' }));

  it.each([301, 307, 400, 401, 404, 410])('takes %d as refused for good', (status) =>
    expect(judge(status)).toEqual({ kind: 'failed', errorCode: `http_${status}` }),
  );

  it.each([408, 429, 500, 503])('tries again after %d', (status) =>
    expect(judge(status)).toEqual({ kind: 'retry', errorCode: `http_${status}`, afterMs: 1000 }),
  );

  it('tries again when nobody answered', () => {
    expect(judgePost({ error: 'ECONNREFUSED' }, 3, productionTimings, now)).toEqual({
      kind: 'retry',
      errorCode: 'ECONNREFUSED',
      afterMs: 4000,
    });
  });

  it('honours Retry-After in seconds and as a date, for an hour at most', () => {
    expect(judge(429, '90')).toMatchObject({ afterMs: 90_000 });
    expect(judge(503, 'Thu, 01 Jan 2026 00:02:00 GMT')).toMatchObject({ afterMs: 120_000 });
    expect(judge(503, '999999')).toMatchObject({ afterMs: 3_600_000 });
    expect(judge(503, 'soon')).toMatchObject({ afterMs: 1000 });
    expect(retryAfterMs('Thu, 01 Jan 2020 00:00:00 GMT', now)).toBe(0);
  });

  it('waits 1 s, doubling, to 60 s', () => {
    expect([1, 2, 3, 6, 7, 8, 1000].map((attempt) => outboxBackoffMs(attempt, productionTimings))).toEqual([
      1000, 2000, 4000, 32_000, 60_000, 60_000, 60_000,
    ]);
  });
});
