import {
  type Bus,
  callCommand,
  connectBus,
  openBucket,
  openConfig,
  provision,
  serveCommands,
  waitProvisioned,
} from '@rookery/bus';
import { type AppError, commandSubject, DEFAULT_AGENT, DEFAULT_WORLD, journalMetadata } from '@rookery/protocol';
import { eventually, startNats, type TestNats, tcpProxy, testTimings } from '@rookery/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

let nats: TestNats;
const cleanups: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  nats = await startNats();
});
afterAll(() => nats.stop());
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function connect(user: string, url = nats.url, of: TestNats = nats): Promise<Bus> {
  const bus = await connectBus({ url, user, seed: of.seed(user), name: `test ${user}`, publishTimeoutMs: 500 });
  cleanups.push(() => bus.close());
  return bus;
}

const request = (method: string, params: unknown) => ({
  method,
  params,
  commandId: 'c1',
  agentId: DEFAULT_AGENT,
  world: DEFAULT_WORLD,
});
const megabyte = 'x'.repeat(1024 * 1024);

describe('a command', () => {
  const method = 'memory.list';
  const subject = commandSubject('memory', method);

  async function serve(handler: (params: unknown) => Promise<unknown>) {
    const bus = await connect('memory');
    const errors: AppError[] = [];
    const server = await serveCommands(
      bus,
      { service: 'memory', instance: 'test-0-boot', version: '0', onError: (_method, error) => errors.push(error) },
      { [method]: async ({ params }) => ({ result: await handler(params) }) },
    );
    return { bus, server, errors };
  }

  it('that is larger than one message may be is refused before it is sent', async () => {
    const asked: unknown[] = [];
    await serve(async (params) => asked.push(params));
    const gateway = await connect('gateway');
    await expect(
      callCommand(gateway, subject, request(method, { megabyte }), { timeoutMs: 3000 }),
    ).rejects.toMatchObject({
      code: 'REQUEST_TOO_LARGE',
      details: { limit: gateway.nc.info?.max_payload, bytes: expect.any(Number) },
    });
    expect(asked).toEqual([]);
    await callCommand(gateway, subject, request(method, 'small'), { timeoutMs: 3000 });
    expect(asked).toEqual(['small']);
  });

  it.each<[string, unknown, string]>([
    ['is larger than one message may be', megabyte, 'REQUEST_TOO_LARGE'],
    ['is no JSON', 1n, 'INTERNAL'],
  ])('whose answer %s is answered with an error, and the next one as ever', async (_, result, code) => {
    let answer = result;
    const { errors } = await serve(async () => answer);
    const gateway = await connect('gateway');
    const call = () => callCommand(gateway, subject, request(method, {}), { timeoutMs: 3000 });
    await expect(call()).rejects.toMatchObject({ code });
    expect(errors.map((error) => error.code)).toEqual([code]);
    answer = 'small';
    expect(await call()).toEqual({ result: 'small' });
  });

  it('that perhaps had an effect is not reported as one that nobody heard', async () => {
    let asked = 0;
    const { bus, server } = await serve(async () => {
      asked += 1;
      await new Promise(() => undefined);
    });
    const gateway = await connect('gateway');
    const options = { timeoutMs: 3000, attemptMs: 300, noResponderMs: 100 };
    const call = callCommand(gateway, subject, request(method, {}), options);
    const failed = expect(call).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      details: { failure: 'ambiguous' },
    });
    await eventually('the request', () => asked > 0);
    void server.stop();
    await bus.close();
    await failed;
  });
});

describe('a section of the configuration that cannot be read', () => {
  it('keeps its last good value, is told, is not replaced by an edit of that, and can be deleted', async () => {
    const gateway = await connect('gateway');
    const bucket = await openBucket(gateway, 'config');
    const told: unknown[] = [];
    const view = await openConfig(gateway, { onInvalid: (found) => told.push(found) });
    cleanups.push(async () => view.stop());
    const section = 'permissions' as const;
    const value = view.get(section);
    const saved = await view.save(section, value, view.revision(section));
    const revision = await bucket.put(section, '{"no":"such key"}');
    await eventually('the change', () => view.revision(section) === revision);
    expect(view.get(section)).toEqual(value);
    expect(view.invalid()).toEqual([{ section, revision, issue: expect.any(String) }]);
    expect(told).toEqual(view.invalid());
    for (const expected of [saved, revision]) {
      await expect(view.save(section, value, expected)).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        details: { section },
      });
    }
    const late = await openConfig(gateway);
    cleanups.push(async () => late.stop());
    expect(late.invalid()).toEqual(view.invalid());
    await bucket.delete(section);
    await eventually('the deletion', () => view.invalid().length === 0);
    await view.save(section, value, view.revision(section));
  });
});

describe('provisioning', () => {
  async function own() {
    const other = await startNats();
    cleanups.push(() => other.stop());
    return { other, bus: await connect('provision', other.url, other) };
  }

  it('refuses what is there and differs: stream, bucket, object store, consumer, a newer step', async () => {
    const { bus } = await own();
    const { streams, consumers } = bus.jsm;
    const refusal = () =>
      provision(bus, { timings: testTimings }).then(
        () => 'accepted',
        (error: AppError) => error,
      );
    expect(await refusal()).toBe('accepted');
    const spoils: [string, () => Promise<unknown>, () => Promise<unknown>][] = [
      [
        'KV_config.max_msgs_per_subject',
        () => streams.update('KV_config', { max_msgs_per_subject: 5 }),
        () => streams.update('KV_config', { max_msgs_per_subject: 64 }),
      ],
      [
        'KV_tokens.max_age',
        () => streams.update('KV_tokens', { max_age: 3_600_000_000_000 }),
        () => streams.update('KV_tokens', { max_age: 0 }),
      ],
      [
        'KV_leases.max_age',
        () => streams.update('KV_leases', { max_age: 0 }),
        () => streams.update('KV_leases', { max_age: 2_000_000_000 }),
      ],
      [
        'OBJ_BLOBS.max_age',
        () => streams.update('OBJ_BLOBS', { max_age: 3_600_000_000_000 }),
        () => streams.update('OBJ_BLOBS', { max_age: 0 }),
      ],
      [
        'agent-runs.ack_wait',
        () => consumers.update('JOURNAL', 'agent-runs', { ack_wait: 1_000_000_000 }),
        () => consumers.update('JOURNAL', 'agent-runs', { ack_wait: 30_000_000_000 }),
      ],
    ];
    for (const [name, spoil, mend] of spoils) {
      await spoil();
      expect(await refusal()).toMatchObject({
        code: 'CONFIG_INVALID',
        details: { differences: [expect.stringContaining(`${name}: `)] },
      });
      await mend();
      expect(await refusal()).toBe('accepted');
    }
    const { config } = await streams.info('JOURNAL');
    await streams.update('JOURNAL', { metadata: { ...config.metadata, [journalMetadata.step]: '99' } });
    expect(await refusal()).toMatchObject({
      code: 'CONFIG_INVALID',
      details: { differences: [expect.stringContaining('step 99')] },
    });
  });

  it('goes on where an answer of a server that is starting does not come', async () => {
    const { other } = await own();
    const proxy = await tcpProxy(other.url);
    cleanups.push(() => proxy.close());
    const bus = await connect('provision', proxy.url, other);
    const lost = new Set(['$JS.API.STREAM.INFO.JOURNAL', '$JS.API.CONSUMER.INFO.JOURNAL.agent-runs']);
    proxy.judge(({ answers }) => (answers !== null && lost.delete(answers) ? 'drop' : 'pass'));
    expect(await provision(bus, { timings: testTimings })).toMatchObject({ homeId: other.homeId, created: [] });
    expect(lost.size).toBe(0);
  });
});

describe('a start', () => {
  it('waits for a house that is provisioned later', async () => {
    const other = await startNats({ provisioned: false });
    cleanups.push(() => other.stop());
    const agent = await connect('agent', other.url, other);
    const reasons: string[] = [];
    const waiting = waitProvisioned(agent, ['JOURNAL'], { onWaiting: ({ code }) => reasons.push(code) });
    await eventually('a reason to wait', () => reasons.length > 0);
    const { homeId, journalId } = await provision(await connect('provision', other.url, other), {
      timings: testTimings,
    });
    expect(await waiting).toEqual({ homeId, journalId });
    expect(reasons[0]).toBe('JOURNAL_UNAVAILABLE');
  });

  it('that waits ends at once where it is told to: for a journal, and for a server', async () => {
    const other = await startNats({ provisioned: false });
    const agent = await connect('agent', other.url, other);
    const aborting = new AbortController();
    const { signal } = aborting;
    const waits = [
      waitProvisioned(agent, ['JOURNAL'], { signal }),
      connectBus({ url: 'nats://127.0.0.1:9', user: 'agent', seed: other.seed('agent'), name: 'nobody', signal }),
    ];
    const ends = waits.map((wait) => expect(wait).rejects.toMatchObject({ code: 'SHUTTING_DOWN' }));
    aborting.abort();
    await Promise.all(ends);
    await expect(waitProvisioned(agent, ['JOURNAL'], { signal })).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    await agent.close();
    await other.stop();
  });
});
