import type { Item } from '@rookery/protocol';
import { connectAs, eventually, type RpcClient, type ScriptedModel, startScriptedModel } from '@rookery/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GatewayHouse, newThread, startGatewayHouse } from './gateway-house.ts';

/** What the agent keeps out of the journal, and what it goes on using while the vault is away. */

let house: GatewayHouse;
let client: RpcClient;
let model: ScriptedModel;
/** What the model says to the next request. */
let says = '';

const USED = 'sk-used-0123456789abcdef';
const UNUSED = 'sk-unused-fedcba9876543210';
const LATER = 'sk-later-0011223344556677';

/** Of a secret in a text that comes in pieces, at most three characters may stand. */
const hides = (secret: string) => (text: unknown) =>
  String(text).includes('[redacted]') && !String(text).includes(secret.slice(0, 4));

async function configure(providerId: string, apiKey: string): Promise<void> {
  const models = [{ id: 'm', displayName: 'M', contextWindow: 100_000 }];
  const named = { kind: 'custom', providerId, displayName: providerId, baseUrl: model.url };
  await client.request('provider.configure', { ...named, apiKey, models });
}

/** The text of a turn's answer as it is in the journal. */
async function answer(text: string): Promise<unknown> {
  says = text;
  const thread = await newThread(client);
  const asked = { ...thread, content: 'say it', providerId: 'used', modelId: 'm' };
  const { runId } = await client.request<{ runId: string }>('turn.start', asked);
  const ofRun = () => client.events.filter((event) => event.runId === runId);
  await eventually('the end', () => ofRun().some((event) => event.type === 'run.settled'));
  expect(ofRun().at(-1)?.payload).toMatchObject({ status: 'completed' });
  const items = ofRun().map((event) => event.payload.item as Item | undefined);
  return items.findLast((item) => item?.role === 'assistant')?.content;
}

beforeAll(async () => {
  model = await startScriptedModel({ script: () => [{ text: says, deltas: 5 }] });
  house = await startGatewayHouse();
  client = await house.client();
  await configure('unused', UNUSED);
  await house.start('tool');
  await house.start('agent');
});
afterAll(async () => {
  await house.stop();
  await model.stop();
});

test('a key is redacted before its first use, whether it was there at the start or came later', async () => {
  await configure('used', USED);
  expect(await answer(`it is ${UNUSED}, I think`)).toSatisfy(hides(UNUSED));
  await configure('later', LATER);
  // The agent hears of it a moment after the gateway has answered.
  await eventually('the new key to be known', async () => hides(LATER)(await answer(LATER)));
});

test('a new owner token is redacted from the rotation on', async () => {
  const { token } = await house.rpc('token.rotate');
  client = await house.client({ token: String(token) });
  await eventually('the new token to be known', async () => hides(String(token))(await answer(`is it ${token}?`)));
});

test('the last known key serves while the vault is away, and none once it is removed', async () => {
  expect(await answer('hello')).toBe('hello');
  const nc = await connectAs(house.nats, 'provision');
  await nc.request('$JS.API.STREAM.DELETE.KV_vault_provider', '');
  // From here on what is known is no longer taken for current.
  await client.request('model.set_limits', { providerId: 'used', modelId: 'm', contextWindow: 50_000 });
  expect(await answer('still here')).toBe('still here');
  expect(model.requests.at(-1)?.headers.authorization).toBe(`Bearer ${USED}`);
  await nc.close();
});
