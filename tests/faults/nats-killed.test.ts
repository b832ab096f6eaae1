import {
  createThread,
  eventually,
  faultRow,
  serviceNames,
  settledOf,
  sleep,
  startTurn,
  submissionFact,
  type TestThread,
  waitSettled,
} from '@rookery/testkit';
import { expect, it } from 'vitest';

const THREADS = 6;

it('kills nats-server three times under load: what was acknowledged is stored, and no service is started again', async () => {
  await faultRow({}, async ({ rookery, follower, history }) => {
    const client = await rookery.client();
    let over = false;
    const runs: string[] = [];
    const threads = await Promise.all(Array.from({ length: THREADS }, () => createThread(client)));
    const talk = async (thread: TestThread, n: number) => {
      for (let turn = 0; !over; turn += 1) {
        const id = `turn-${n}-${turn}`;
        const script = `go #script ${JSON.stringify({ text: `answer ${id}`, deltas: 8, delayMs: 60 })}`;
        const started = await history.attempt('turn.start', submissionFact(id), () =>
          startTurn(client, thread, script, id),
        );
        if (started === null) await sleep(100);
        else {
          runs.push(started.runId);
          await waitSettled(follower.events, started.runId);
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
    const acknowledged = () => history.operations.filter(({ outcome }) => outcome === 'ok').length;
    const load = Promise.all([remember(), ...threads.map(talk)]);
    for (let kill = 0; kill < 3; kill += 1) {
      const before = acknowledged();
      const streaming = () => follower.events.at(-1)?.type === 'item.delta';
      await eventually('load', () => acknowledged() >= before + 15 && streaming(), { timeoutMs: 60_000, everyMs: 5 });
      await rookery.nats.kill();
      await sleep(300);
      await rookery.nats.restart();
    }
    const since = acknowledged();
    await eventually('work after the last restart', () => acknowledged() >= since + 15, { timeoutMs: 60_000 });
    over = true;
    await load;
    // Also those whose acknowledgement was lost.
    const submitted = () =>
      follower.events.flatMap(({ payload, runId }) => (payload.runConfig && runId ? [runId] : []));
    await eventually('every run to end', () => submitted().every((runId) => settledOf(follower.events, runId)));
    const failed = follower.events.filter(
      (event) => event.type === 'run.settled' && event.payload.status !== 'completed',
    );
    expect(failed.map(({ payload }) => payload)).toEqual([]);
    expect(runs.length).toBeGreaterThanOrEqual(THREADS);
    for (const name of serviceNames) expect(rookery.service(name).starts, name).toBe(1);
    await client.close();
    return undefined;
  });
});
