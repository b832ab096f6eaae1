import {
  createThread,
  eventually,
  faultRow,
  serviceNames,
  sleep,
  startTurn,
  submissionFact,
  waitSettled,
} from '@rookery/testkit';
import { expect, it } from 'vitest';

const THREADS = 6;

it('kills nats-server three times under load: what was acknowledged is stored, and no service is started again', async () => {
  await faultRow({}, async ({ rookery, follower, history }) => {
    const client = await rookery.client();
    let over = false;
    const runs: string[] = [];
    const talk = async (n: number) => {
      const thread = await createThread(client, { clientRequestId: `thread-${n}` });
      for (let turn = 0; !over; turn += 1) {
        const id = `turn-${n}-${turn}`;
        const script = `go #script ${JSON.stringify({ text: `answer ${id}`, deltas: 8, delayMs: 60 })}`;
        const started = await history.attempt('turn.start', submissionFact(id), () =>
          startTurn(client, thread, script, id),
        );
        if (started === null) await sleep(100);
        else {
          runs.push(started.runId);
          await waitSettled(follower.events, started.runId, 20_000);
        }
      }
    };
    const remember = async () => {
      for (let n = 0; !over; n += 1) {
        const clientRequestId = `memory-${n}`;
        const content = `remembered ${n}`;
        await history.attempt('memory.create', { stream: 'MEMORY', type: 'memory.created', where: { content } }, () =>
          client.request('memory.create', {
            kind: 'fact',
            scope: { type: 'global', key: null },
            content,
            clientRequestId,
          }),
        );
        await sleep(30);
      }
    };
    const load = Promise.all([remember(), ...Array.from({ length: THREADS }, (_, n) => talk(n))]);
    for (let kill = 0; kill < 3; kill += 1) {
      await sleep(1500);
      await rookery.nats.kill();
      await sleep(300);
      await rookery.nats.restart();
    }
    await sleep(1000);
    over = true;
    await load;
    await eventually('every run to end', () =>
      runs.every((runId) => follower.events.some((event) => event.runId === runId && event.type === 'run.settled')),
    );
    const failed = follower.events.filter(
      (event) => event.type === 'run.settled' && event.payload.status !== 'completed',
    );
    expect(failed.map(({ payload }) => payload)).toEqual([]);
    expect(runs.length).toBeGreaterThan(THREADS);
    expect(history.operations.filter(({ outcome }) => outcome === 'ok').length).toBeGreaterThan(20);
    for (const name of serviceNames) expect(rookery.service(name).starts, name).toBe(1);
    await client.close();
    return undefined;
  });
});
