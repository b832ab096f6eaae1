import { connectBus, provision } from '@rookery/bus';
import { openJournal } from '@rookery/journal';
import { formatSubject } from '@rookery/protocol';
import { commitOf, eventually } from '@rookery/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GatewayHouse, newThread, startGatewayHouse, upgradeStatus } from './gateway-house.ts';

let house: GatewayHouse;

beforeAll(async () => {
  house = await startGatewayHouse({ ambiguousDeadlineMs: 2000 });
  await house.start('tool');
  await house.start('agent');
});
afterAll(() => house.stop());

test('a damaged thread is out of service in live events, replay and lists alike, and all else goes on', async () => {
  const client = await house.client();
  const damaged = await newThread(client, { title: 'Damaged' });
  const bus = await connectBus({ url: house.nats.url, user: 'agent', seed: house.nats.seed('agent'), name: 'writer' });
  const journal = openJournal(bus);
  const subject = formatSubject({ kind: 'turns', world: 'home', threadId: damaged.threadId });
  const last = await journal.readLast(subject);
  // A commit whose rows contradict what is there: a thread that is created twice.
  const created = last?.commit.events.find((one) => one.type === 'thread.created');
  const commit = commitOf(subject, 'twice', { events: created === undefined ? [] : [created] });
  await journal.append({ subject, expected: last?.streamSeq ?? 0, commit });
  const other = await newThread(client, { title: 'Sound' });
  const event = await eventually('its event', () => client.events.find((one) => one.threadId === other.threadId));
  expect(event.prevSeq).toBe(client.events.at(-2)?.seq);
  const page = await client.request<{ events: { seq: number; type: string; threadId: string }[] }>('event.replay', {});
  expect(page.events.at(-1)).toEqual(event);
  const ofDamaged = page.events.filter((one) => one.threadId === damaged.threadId);
  expect(ofDamaged.map((one) => one.type)).toEqual(['thread.created']);
  expect(await client.request('system.status')).toMatchObject({ readModel: { quarantined: 1 } });
  await client.close();
  await bus.close();
});

test('a change of settings that could not be put on record is, as soon as the journal takes it, and the gateway is ready', async () => {
  const bus = await connectBus({
    url: house.nats.url,
    user: 'provision',
    seed: house.nats.seed('provision'),
    name: 'provision',
  });
  const { state } = await bus.jsm.streams.info('JOURNAL');
  await bus.jsm.streams.update('JOURNAL', { max_msgs: state.messages });
  await house.rpc('provider.configure', {
    ...{ kind: 'custom', providerId: 'recorded', displayName: 'Recorded', baseUrl: 'http://127.0.0.1:9/v1' },
    models: [{ id: 'm' }],
  });
  expect((await house.http('/readyz')).json().reasons).toEqual(['last_append_failed']);
  await bus.jsm.streams.update('JOURNAL', { max_msgs: -1 });
  await eventually('readiness', async () => (await house.http('/readyz')).status === 200);
  const records = await openJournal(bus).readSubject(formatSubject({ kind: 'config' }), 0);
  const keys = records.flatMap(({ commit }) => commit.events.flatMap((event) => event.payload.keys as string[]));
  expect(keys.filter((key) => key === 'providers.recorded')).toHaveLength(1);
  await bus.close();
});

test('another journal closes every connection and is served to nobody', async () => {
  const client = await house.client();
  await newThread(client);
  const bus = await connectBus({
    url: house.nats.url,
    user: 'provision',
    seed: house.nats.seed('provision'),
    name: 'provision',
  });
  await bus.jsm.streams.delete('JOURNAL');
  await provision(bus);
  await bus.close();
  await house.nats.kill();
  await house.nats.restart();
  expect(await client.closed).toMatchObject({ code: 1012 });
  const authorization = `Bearer ${await house.token()}`;
  const answer = await house.http('/rpc/v1', {
    method: 'POST',
    headers: { authorization },
    body: { jsonrpc: '2.0', id: 1, method: 'thread.list', params: {} },
  });
  expect([answer.status, (answer.json().error as { code: string }).code]).toEqual([503, 'JOURNAL_REGRESSED']);
  expect(await upgradeStatus(`${house.url}/rpc`, { authorization })).toBe(503);
  const ready = await house.http('/readyz');
  expect(ready.status).toBe(503);
  expect(ready.json().reasons).toContain('journal_changed');
});
