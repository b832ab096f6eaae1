import { randomBytes } from 'node:crypto';
import { type Bus, callCommand, openBlobs, openBucket, openConfig } from '@rookery/bus';
import { commandSubject, DEFAULT_AGENT, DEFAULT_WORLD, type Thread, type ToolCallState } from '@rookery/protocol';
import { createVault, formatReference, type Vault } from '@rookery/secrets';
import { eventually, sleep, type TcpProxy, tcpProxy, testTimings } from '@rookery/testkit';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type AgentHouse, eventsOf, PROVIDER, startAgentHouse } from './agent-house.ts';

/** An agent that reaches NATS through a proxy which loses answers, so that each await of a run can be cut off alone. */
let house: AgentHouse;
let proxy: TcpProxy;
/** The agent's user, not over the proxy. */
let direct: Bus;
let vault: Vault;

/** Gives the provider a key under a field of its own. */
async function saveKey(field: string, value: string): Promise<void> {
  await vault.put(PROVIDER, field, value);
  const settings = await openConfig(house.gateway);
  const { providers } = settings.get('providers');
  const provider = providers[PROVIDER];
  if (provider === undefined) throw new Error('the house has no provider');
  const apiKey = formatReference({ kind: 'vault', item: PROVIDER, field });
  const withKey = { providers: { ...providers, [PROVIDER]: { ...provider, apiKey } } };
  await settings.save('providers', withKey, settings.revision('providers'));
  settings.stop();
}

beforeAll(async () => {
  house = await startAgentHouse();
  proxy = await tcpProxy(house.nats.url);
  direct = await house.connect('agent', house.nats.url);
  const key = randomBytes(32);
  vault = createVault(await openBucket(house.gateway, 'vault_provider'), 'vault_provider', key);
  await saveKey('apiKey', 'zq81-xk27-vw03-ty95');
  await house.startRunner();
  await house.startAgent(0, {}, { natsUrl: proxy.url, vaultKeys: { vault_provider: key } });
});
afterEach(() => {
  proxy.mend();
  proxy.judge(() => 'pass');
});
afterAll(async () => {
  await direct?.close();
  await house?.stop();
  await proxy?.close();
});

const script = (directive: object) => `#script ${JSON.stringify(directive)}`;

/** Loses every answer to publications that begin so; gives how many were lost. */
function lose(prefix: string): () => number {
  const before = proxy.counts.dropped;
  proxy.judge(({ answers, subject }) => ((answers ?? subject).startsWith(prefix) ? 'drop' : 'pass'));
  return () => proxy.counts.dropped - before;
}

async function endOf(thread: Thread, runId: string): Promise<unknown> {
  return eventsOf(await house.settled(thread, runId)).at(-1)?.payload;
}

it('a run whose secret cannot be read waits for it', async () => {
  const thread = await house.createThread();
  const lost = lose('$JS.API.DIRECT.GET.KV_vault_provider');
  await saveKey('second', 'mn52-pl90-rb16-cd37');
  await eventually('the agent to hear of the new key', () => lost() >= 1);
  const { runId } = await house.startTurn(thread, script({ text: 'with the key' }), 'r1');
  await eventually('attempts of the run', () => lost() >= 3);
  proxy.judge(() => 'pass');
  expect(await endOf(thread, runId)).toMatchObject({ status: 'completed' });
  expect(house.model.requests.at(-1)?.headers.authorization).toBe('Bearer mn52-pl90-rb16-cd37');
});

it('a run that waits for a secret can be cancelled', async () => {
  const thread = await house.createThread();
  const asked = house.model.requests.length;
  const lost = lose('$JS.API.DIRECT.GET.KV_vault_provider');
  await saveKey('third', 'gh48-wt75-ks29-fb61');
  await eventually('the agent to hear of the new key', () => lost() >= 1);
  const { runId } = await house.startTurn(thread, script({ text: 'never' }), 'r1');
  await eventually('an attempt of the run', () => lost() >= 2);
  await house.command('run.cancel', { runId });
  expect(await endOf(thread, runId)).toMatchObject({ status: 'cancelled' });
  proxy.judge(() => 'pass');
  await sleep(500);
  expect(house.model.requests).toHaveLength(asked);
});

/** A run with a tool call in flight that outlives what happens to NATS; resolves once that call runs. */
async function withToolCall(clientRequestId: string): Promise<{ thread: Thread; runId: string }> {
  const thread = await house.createThread();
  const start = { name: 'process_start', arguments: { command: 'sleep 1.5; echo done' } };
  const wait = { name: 'process_wait', arguments: { processId: '$result', timeoutMs: 4000 } };
  const directive = script({ rounds: [[start], [wait]], text: 'x' });
  // Just after NATS came back the agent may still say that its view is behind, which is to be asked again.
  const { runId } = await eventually('the turn', () => house.startTurn(thread, directive, clientRequestId));
  const inFlight = await eventually('the second call', async () => {
    const items = eventsOf(await house.runCommits(thread, runId))
      .filter(({ type }) => type === 'item.started')
      .map(({ payload }) => payload.item as { id: string; kind: string });
    return items.filter(({ kind }) => kind === 'tool_call')[1];
  });
  // Its intent is on record before the runner hears of it.
  const about = { method: 'inspect', commandId: 'test', agentId: DEFAULT_AGENT, world: DEFAULT_WORLD };
  const subject = commandSubject('tool', 'inspect', 'main');
  await eventually('the runner to work on it', async () => {
    const request = { ...about, params: { itemId: inFlight.id, waitMs: 0 } };
    return (await callCommand<ToolCallState>(direct, subject, request, { timeoutMs: 2000 })).result.state === 'running';
  });
  return { thread, runId };
}

it.each([
  ['is cut off from NATS', () => proxy.cut(), () => proxy.mend()],
  ['has a NATS that says nothing', () => house.nats.signal('SIGSTOP'), () => house.nats.signal('SIGCONT')],
])('an agent that %s for longer than a runner may be silent gets the result', async (title, away, back) => {
  const { thread, runId } = await withToolCall(title);
  away();
  try {
    await sleep(testTimings.toolSilenceMs * 2);
  } finally {
    back();
  }
  const results = eventsOf(await house.settled(thread, runId))
    .map(({ payload }) => payload.item as { kind: string; content: string } | undefined)
    .filter((item) => item?.kind === 'tool_result')
    .map((item) => JSON.parse(String(item?.content)) as { ok: boolean });
  expect(results.map(({ ok }) => ok)).toEqual([true, true]);
});

it('a long text whose chunks do not come is given up, to be read again', async () => {
  const bus = await house.connect('agent', proxy.url);
  try {
    const blobs = openBlobs(bus);
    const text = '好'.repeat(100_000);
    const sha256 = await blobs.put('thread_blob', text);
    const lost = lose('$O.BLOBS.C.');
    await expect(blobs.get('thread_blob', sha256)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(lost()).toBeGreaterThan(0);
    proxy.judge(() => 'pass');
    expect(await blobs.get('thread_blob', sha256)).toBe(text);
  } finally {
    await bus.close();
  }
});
