import { randomBytes } from 'node:crypto';
import { type Bus, callCommand, connectBus, openBucket, openConfig } from '@rookery/bus';
import { openJournal } from '@rookery/journal';
import {
  AppError,
  type CommitEvent,
  type ConfigValue,
  commandSubject,
  subjectFilters,
  type WebhookConfig,
} from '@rookery/protocol';
import { createVault, formatReference } from '@rookery/secrets';
import { eventually, startRookery, type TestRookery } from '@rookery/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AnswerReceiver, startAnswerReceiver } from './answer-receiver.ts';
import { type SmallAgent, startSmallAgent } from './small-agent.ts';

interface Accepted {
  deliveryId: string;
  threadId: string;
  turnId: string;
  runId: string;
}
interface Channel {
  name: string;
  bindings: { chat: string; threadId: string; branchId: string | null }[];
  openDeliveries: number;
  refusedDeliveries: { count: number; lastErrorCode: string | null };
  outbox: Record<'waiting' | 'pending' | 'sent' | 'failed', number>;
}

const SECRET = 'the-secret-of-this-hook';
const vaultKey = randomBytes(32);
let rookery: TestRookery;
let gateway: Bus;
let receiver: AnswerReceiver;
let agent: SmallAgent | null = null;

beforeAll(async () => {
  rookery = await startRookery({
    services: ['channels'],
    slots: { channels: 2 },
    faults: true,
    env: { ROOKERY_VAULT_KEYS: JSON.stringify({ vault_channel: vaultKey.toString('hex') }) },
  });
  const { nats } = rookery;
  gateway = await connectBus({ url: nats.url, user: 'gateway', seed: nats.seed('gateway'), name: 'test gateway' });
  const vault = createVault(await openBucket(gateway, 'vault_channel'), 'vault_channel', vaultKey);
  await vault.put('webhook-test', 'secret', SECRET);
});
afterAll(async () => {
  await gateway?.close();
  await rookery?.stop();
});

/** What a group of tests stands between. */
async function stopOutside(): Promise<void> {
  await agent?.stop();
  agent = null;
  await receiver?.stop();
}
const startAgent = async () => {
  agent = await startSmallAgent(rookery.nats, {
    answer(content) {
      if (content.includes('fail')) throw new Error('as asked');
      return `answer to ${content}`;
    },
    admit(content) {
      if (content.includes('no model')) throw new AppError('MODEL_NOT_CONFIGURED');
    },
  });
  return agent;
};

async function configure(hooks: Record<string, Partial<WebhookConfig>>): Promise<void> {
  const whole = (hook: Partial<WebhookConfig>): WebhookConfig => ({
    kind: 'webhook',
    enabled: true,
    secret: formatReference({ kind: 'vault', item: 'webhook-test', field: 'secret' }),
    answerUrl: null,
    providerId: 'demo',
    modelId: 'demo-1',
    ...hook,
  });
  const config = await openConfig(gateway);
  const channels = Object.fromEntries(Object.entries(hooks).map(([name, hook]) => [name, whole(hook)]));
  const value: ConfigValue<'channels'> = { channels };
  await config.save('channels', value, config.revision('channels'));
  config.stop();
  await eventually('both instances to see the configuration', async () => {
    const seen = await Promise.all(Array.from({ length: 8 }, () => list()));
    return seen.every((names) => names.map(({ name }) => name).join() === Object.keys(hooks).sort().join());
  });
}

async function call<T>(method: string, params: unknown): Promise<T> {
  const request = { method, params, commandId: 'test', agentId: 'main', world: 'home' };
  const options = { timeoutMs: 50_000, attemptMs: 5000, noResponderMs: 50_000 };
  return (await callCommand<T>(gateway, commandSubject('channels', method), request, options)).result;
}
const list = async () => (await call<{ channels: Channel[] }>('channel.list', {})).channels;
const deliver = (name: string, deliveryId: string, content: string, chat?: string, secret: string | null = SECRET) =>
  call<Accepted>('hook.receive', {
    name,
    secret,
    deliveryId,
    body: { content, ...(chat === undefined ? {} : { chat }) },
  });
const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'accepted',
    (error: unknown) => (error instanceof AppError ? error.code : error),
  );

/** Events of one type on the subjects of channels. */
async function channelEvents(type: string): Promise<CommitEvent[]> {
  const journal = openJournal(gateway);
  const page = await journal.readPage({ fromSeq: 1, max: 5000, filter: subjectFilters.channels });
  return page.commits.flatMap(({ commit }) => commit.events).filter((event) => event.type === type);
}
const sent = (name: string, count: number) =>
  eventually(
    `${count} answers to be closed`,
    async () => {
      const channel = (await list()).find((entry) => entry.name === name);
      return (channel?.outbox.sent ?? 0) + (channel?.outbox.failed ?? 0) === count ? channel : null;
    },
    { timeoutMs: 40_000, everyMs: 100 },
  );
const until = (small: SmallAgent, count: number) =>
  eventually(`${count} turns`, () => small.taken.length >= count, { timeoutMs: 40_000, everyMs: 50 });

describe('two instances of channels', () => {
  let small: SmallAgent;

  beforeAll(async () => {
    receiver = await startAnswerReceiver((response, repetition, answer) => {
      if (answer.path === '/moved') response.writeHead(307, { location: `${receiver.url}/target` }).end();
      else if (answer.path === '/gone') response.writeHead(410).end();
      else if (answer.path !== '/flaky' || repetition >= 3) response.writeHead(200).end('x'.repeat(100_000));
      else if (repetition === 0) response.writeHead(503).end();
      else if (repetition === 1) response.destroy();
      else response.writeHead(429, { 'retry-after': '1' }).end();
    });
    small = await startAgent();
    await configure({
      ci: { answerUrl: `${receiver.url}/answers` },
      flaky: { answerUrl: `${receiver.url}/flaky` },
      moved: { answerUrl: `${receiver.url}/moved` },
      gone: { answerUrl: `${receiver.url}/gone` },
      quiet: {},
      off: { enabled: false },
    });
  });
  afterAll(stopOutside);

  it('turn a delivery into a signed turn and post its answer', async () => {
    const accepted = await deliver('ci', 'first', 'what is red?');
    const channel = await sent('ci', 1);
    expect(small.taken.find(({ turnId }) => turnId === accepted.turnId)).toMatchObject({
      threadId: accepted.threadId,
      turnId: accepted.turnId,
      runId: accepted.runId,
      content: 'what is red?',
      clientRequestId: 'webhook:ci:default:first',
      signed: true,
    });
    const [answer, ...more] = receiver.of('first');
    expect(more).toEqual([]);
    expect(JSON.parse(answer?.body ?? '')).toEqual({
      ...accepted,
      status: 'completed',
      text: 'answer to what is red?',
    });
    expect(answer?.headers['idempotency-key']).toBe(`answer-${accepted.runId}`);
    expect(channel).toMatchObject({ outbox: { waiting: 0, pending: 0, sent: 1, failed: 0 }, openDeliveries: 0 });
    expect(channel.bindings).toMatchObject([{ chat: 'default', threadId: accepted.threadId }]);
    expect(channel.bindings[0]?.branchId).toMatch(/^branch_/);
  });

  it('make one turn of a delivery that comes 40 times at once', async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => deliver('quiet', 'again', 'only once', 'room')));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    const turnId = answers[0]?.turnId;
    await eventually('the turn', () => small.taken.some((turn) => turn.turnId === turnId));
    expect(await deliver('quiet', 'again', 'only once', 'room')).toEqual(answers[0]);
    const received = (await channelEvents('channel.received')).filter(({ payload }) => payload.deliveryId === 'again');
    expect(received).toHaveLength(1);
    expect(small.taken.filter((turn) => turn.turnId === turnId)).toHaveLength(1);
    expect(await codeOf(deliver('quiet', 'again', 'another body', 'room'))).toBe('IDEMPOTENCY_CONFLICT');
    expect(await codeOf(deliver('quiet', 'again', 'only once', 'another room'))).toBe('IDEMPOTENCY_CONFLICT');
    expect(await codeOf(deliver('quiet', 'again', 'only once'))).toBe('IDEMPOTENCY_CONFLICT');
  });

  it('carry many deliveries of several chats, each once, into one thread a chat', async () => {
    const before = small.taken.length;
    const deliveries = Array.from({ length: 60 }, (_, index) => ({ id: `many-${index}`, chat: `chat-${index % 6}` }));
    const accepted = await Promise.all(
      deliveries.map(({ id, chat }) => deliver('quiet', id, `content of ${id}`, chat)),
    );
    await until(small, before + 60);
    expect(new Set(accepted.map((answer) => answer.threadId)).size).toBe(6);
    const contents = small.taken.slice(before).map((turn) => turn.content);
    expect(contents.sort()).toEqual(deliveries.map(({ id }) => `content of ${id}`).sort());
  });

  it('post an answer with the same key and body until it is accepted', async () => {
    const accepted = await deliver('flaky', 'stubborn', 'try again');
    await sent('flaky', 1);
    const answers = receiver.of('stubborn');
    expect(answers).toHaveLength(4);
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    expect(new Set(answers.map(({ headers }) => headers['idempotency-key']))).toEqual(
      new Set([`answer-${accepted.runId}`]),
    );
    const finished = (await channelEvents('channel.delivery_finished')).filter(
      ({ payload }) => payload.runId === accepted.runId,
    );
    expect(finished.map(({ payload }) => payload)).toMatchObject([{ status: 'sent', attempts: 4, errorCode: null }]);
  });

  it('follow no redirect and take a refusal as the end', async () => {
    const moved = await deliver('moved', 'moved-1', 'where?');
    const gone = await deliver('gone', 'gone-1', 'anybody?');
    await Promise.all([sent('moved', 1), sent('gone', 1)]);
    expect(receiver.received.filter(({ path }) => path === '/target')).toEqual([]);
    const finished = (await channelEvents('channel.delivery_finished')).map(({ payload }) => payload);
    expect(finished.find(({ runId }) => runId === moved.runId)).toMatchObject({
      status: 'failed',
      errorCode: 'http_307',
    });
    expect(finished.find(({ runId }) => runId === gone.runId)).toMatchObject({
      status: 'failed',
      errorCode: 'http_410',
    });
  });

  it('close a delivery that the agents refuse for good, with the reason, and try it no more', async () => {
    const accepted = await deliver('quiet', 'refused', 'no model for this', 'refusals');
    const closed = await deliver('ci', 'refused-too', 'no model for this', 'refusals');
    const entry = (name: string) => list().then((channels) => channels.find((channel) => channel.name === name));
    for (const name of ['quiet', 'ci']) {
      await eventually('the refusal', async () => (await entry(name))?.refusedDeliveries.count === 1);
      expect(await entry(name)).toMatchObject({
        openDeliveries: 0,
        refusedDeliveries: { lastErrorCode: 'MODEL_NOT_CONFIGURED' },
        outbox: { waiting: 0 },
      });
    }
    const finished = (await channelEvents('channel.delivery_finished')).map(({ payload }) => payload);
    for (const { runId } of [accepted, closed]) {
      expect(finished.filter((payload) => payload.runId === runId)).toMatchObject([
        { status: 'failed', errorCode: 'MODEL_NOT_CONFIGURED' },
      ]);
    }
    expect(await deliver('quiet', 'refused', 'no model for this', 'refusals')).toEqual(accepted);
    await deliver('quiet', 'fine', 'and now a model', 'refusals');
    await eventually('the next one', () => small.taken.some((turn) => turn.content === 'and now a model'));
  });

  it('tell the outside why a run failed', async () => {
    await deliver('ci', 'failing', 'please fail');
    await eventually('the answer', () => receiver.of('failing').length > 0, { timeoutMs: 20_000 });
    const body: unknown = JSON.parse(receiver.of('failing')[0]?.body ?? '');
    expect(body).toMatchObject({ status: 'failed', reasonCode: 'provider_failed', text: '' });
  });

  it('carry a content that is too long for a commit', async () => {
    const content = `${'long text '.repeat(12_000)}end`;
    const accepted = await deliver('ci', 'long', content);
    await eventually('the turn', () => small.taken.some((turn) => turn.turnId === accepted.turnId), {
      timeoutMs: 20_000,
    });
    expect(small.taken.find((turn) => turn.turnId === accepted.turnId)?.content).toBe(content);
    await eventually('the answer', () => receiver.of('long').length > 0, { timeoutMs: 20_000 });
    expect((JSON.parse(receiver.of('long')[0]?.body ?? '') as { text: string }).text).toBe(`answer to ${content}`);
    const [stored] = (await channelEvents('channel.received')).filter(({ payload }) => payload.deliveryId === 'long');
    expect(stored?.payload.content).toMatchObject({ bytes: content.length });
  });

  it('refuse who does not know the secret, alike for every reason', async () => {
    const before = (await channelEvents('channel.received')).length;
    const attempts = [
      deliver('nobody', 'x', 'hello'),
      deliver('off', 'x', 'hello'),
      deliver('ci', 'x', 'hello', undefined, 'wrong'),
      deliver('ci', 'x', 'hello', undefined, null),
      deliver('ci', 'x', 'hello', undefined, ''),
    ];
    const errors = await Promise.all(attempts.map((work) => work.catch((error: unknown) => error)));
    const shown = errors.map((error) => JSON.stringify((error as AppError).toBody()));
    expect(new Set(shown).size).toBe(1);
    expect(errors[0]).toMatchObject({ code: 'HOOK_REFUSED' });
    expect(await codeOf(deliver('ci', 'blank', '  '))).toBe('CONTENT_EMPTY');
    expect(await codeOf(deliver('ci', 'huge', 'x'.repeat(256 * 1024 + 1)))).toBe('CONTENT_TOO_LARGE');
    expect((await channelEvents('channel.received')).length).toBe(before);
  });

  it('never write the secret into the log', async () => {
    const logs = await rookery.logs(10_000);
    expect(logs).toContain('a command failed');
    expect(logs).not.toContain(SECRET);
    expect(logs).not.toContain('what is red?');
  });
});

describe('an acknowledged delivery', () => {
  beforeAll(async () => {
    receiver = await startAnswerReceiver((response) => response.writeHead(204).end());
    await configure({ kept: { answerUrl: receiver.url } });
  });
  afterAll(stopOutside);

  it('becomes one turn and one answer, though no agent was there and every process of channels died', async () => {
    // The process in slot 0 dies after it has stored its 3rd delivery and before it answers.
    await rookery.withFault('channels', 'channels:after-append@3');
    const { starts } = rookery.service('channels', 0);
    const ids = Array.from({ length: 20 }, (_, index) => `kept-${index}`);
    const accepted = await Promise.all(ids.map((id) => deliver('kept', id, `content of ${id}`, id.slice(-1))));
    await rookery.service('channels', 0).started(starts + 1);
    await rookery.killAndWait('channels', 1);
    const small = await startAgent();
    await until(small, ids.length);
    await sent('kept', ids.length);
    expect(small.taken.map(({ turnId }) => turnId).sort()).toEqual(accepted.map(({ turnId }) => turnId).sort());
    const stored = (await channelEvents('channel.received')).map(({ payload }) => payload.deliveryId);
    expect(stored.filter((id) => ids.includes(String(id)))).toHaveLength(ids.length);
    for (const id of ids) expect(receiver.of(id).length).toBeGreaterThanOrEqual(1);
    expect(await deliver('kept', 'kept-0', 'content of kept-0', '0')).toEqual(accepted[0]);
  }, 120_000);
});

describe('an answer', () => {
  beforeAll(async () => {
    receiver = await startAnswerReceiver((response) => response.writeHead(204).end());
    await configure({ told: { answerUrl: receiver.url } });
    await startAgent();
  });
  afterAll(stopOutside);

  it('is posted again with the same key and body when its sender was killed before it could say so', async () => {
    // Whoever holds the lease sends: with the other one gone that is slot 0.
    await rookery.service('channels', 1).down();
    // It dies when the receiver has taken the answer and before that is stored.
    await rookery.withFault('channels', 'channels:after-post');
    const { starts } = rookery.service('channels', 0);
    const accepted = await deliver('told', 'twice', 'hello');
    await rookery.service('channels', 0).started(starts + 1);
    await sent('told', 1);
    const answers = receiver.of('twice');
    expect(answers).toHaveLength(2);
    expect(answers[1]).toMatchObject({ body: answers[0]?.body, path: answers[0]?.path });
    expect(answers.map(({ headers }) => headers['idempotency-key'])).toEqual(Array(2).fill(`answer-${accepted.runId}`));
    const finished = (await channelEvents('channel.delivery_finished')).map(({ payload }) => payload.runId);
    expect(finished.filter((runId) => runId === accepted.runId)).toHaveLength(1);
  }, 120_000);

  it('is posted after nats-server was killed, by the same process', async () => {
    const { starts } = rookery.service('channels', 0);
    await rookery.nats.kill();
    await rookery.nats.restart();
    await deliver('told', 'after-nats', 'hello again');
    await sent('told', 2);
    expect(receiver.of('after-nats').length).toBeGreaterThanOrEqual(1);
    expect(rookery.service('channels', 0).starts).toBe(starts);
  });
});
