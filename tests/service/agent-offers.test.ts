import { connectBus } from '@rookery/bus';
import { agentRuns } from '@rookery/protocol';
import { eventually, readStream } from '@rookery/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AgentHouse, eventsOf, startAgentHouse } from './agent-house.ts';

let house: AgentHouse;
beforeAll(async () => {
  house = await startAgentHouse();
  await house.startRunner();
  await house.startAgent();
});
afterAll(() => house?.stop());

/** Runs work as the user that owns streams and consumers. */
async function provisioner<T>(work: (jsm: Awaited<ReturnType<typeof connectBus>>['jsm']) => Promise<T>): Promise<T> {
  const { url, seed } = house.nats;
  const bus = await connectBus({ url, user: 'provision', seed: seed('provision'), name: 'test provision' });
  try {
    return await work(bus.jsm);
  } finally {
    await bus.close();
  }
}

const consumer = () => provisioner((jsm) => jsm.consumers.info(agentRuns.stream, agentRuns.durable));

/** Waits until the server has offered everything and every offer is acknowledged. */
const allAcknowledged = () =>
  eventually('all offers to be acknowledged', async () => {
    const { num_pending: pending, num_ack_pending: unacknowledged, delivered } = await consumer();
    return pending === 0 && unacknowledged === 0 && delivered.consumer_seq > 0 ? delivered.consumer_seq : null;
  });

it('an offer that comes again, or whose acknowledgement was lost, is acknowledged and does nothing', async () => {
  const thread = await house.createThread();
  const turns = [];
  const write = { name: 'write', arguments: { filePath: 'once', content: 'once' } };
  for (const [n, tools] of [[write], [], []].entries()) {
    const script = `#script ${JSON.stringify({ ...(tools.length > 0 ? { tools } : {}), text: `answer ${n}` })}`;
    turns.push(await house.startTurn(thread, script, `r${n}`));
  }
  for (const { runId } of turns) await house.settled(thread, runId);
  const offered = await allAcknowledged();
  const asked = house.model.requests.length;
  const stored = await readStream(house.nats, 'JOURNAL');

  // Made anew, the consumer offers the whole stream again: the second and the third time.
  for (let round = 2; round <= 3; round += 1) {
    await provisioner(async (jsm) => {
      const { config } = await jsm.consumers.info(agentRuns.stream, agentRuns.durable);
      await jsm.consumers.delete(agentRuns.stream, agentRuns.durable);
      await jsm.consumers.add(agentRuns.stream, config);
    });
    expect(await allAcknowledged()).toBe(offered);
  }
  // Acknowledgements of the last second before a kill are not on disk: those offers come once more.
  await house.nats.kill();
  await house.nats.restart();
  await allAcknowledged();

  expect(house.model.requests).toHaveLength(asked);
  expect(await readStream(house.nats, 'JOURNAL')).toEqual(stored);
  for (const { runId } of turns) {
    const claims = eventsOf(await house.runCommits(thread, runId)).filter(({ type }) => type === 'run.claimed');
    expect(claims).toHaveLength(1);
  }
  const next = await house.startTurn(thread, '#script {"text":"and on"}', 'r4');
  expect(eventsOf(await house.settled(thread, next.runId)).at(-1)?.payload).toMatchObject({ status: 'completed' });
});
