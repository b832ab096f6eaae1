import { connectBus } from '@rookery/bus';
import { openJournal } from '@rookery/journal';
import { formatSubject, type Thread } from '@rookery/protocol';
import { commitOf, eventually } from '@rookery/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AgentHouse, eventsOf, startAgentHouse } from './agent-house.ts';

const MIB = 1024 * 1024;

let house: AgentHouse;
beforeAll(async () => {
  house = await startAgentHouse({ maxFileStore: 16 * MIB });
  await house.startRunner();
  await house.startAgent();
});
afterAll(() => house?.stop());

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no error',
    (error: { code?: string }) => error.code ?? String(error),
  );
const filler = formatSubject({ kind: 'run', world: 'home', threadId: 'thread_filler', runId: 'run_filler' });

/** Appends until the store takes no more, in pieces that become smaller, so that nothing else fits either. */
async function fill(): Promise<void> {
  const { url, seed } = house.nats;
  const bus = await connectBus({ url, user: 'agent', seed: seed('agent'), name: 'filler' });
  try {
    const journal = openJournal(bus);
    let expected = 0;
    let n = 0;
    for (let bytes = 400_000; bytes > 16; bytes = Math.floor(bytes / 2)) {
      for (;;) {
        n += 1;
        const events = [{ type: 'item.delta', itemId: 'i', payload: { delta: 'x'.repeat(bytes) } }];
        const commit = commitOf(filler, `fill-${n}`, { events });
        const appended = await journal
          .append({ subject: filler, expected, commit })
          .catch((error: { code?: string }) => {
            expect(error.code).toBe('STORAGE_LOW');
            return null;
          });
        if (appended?.outcome !== 'committed') break;
        expected = appended.streamSeq;
      }
    }
    expect(n).toBeGreaterThan(20);
  } finally {
    await bus.close();
  }
}

async function makeRoom(): Promise<void> {
  const { url, seed } = house.nats;
  const bus = await connectBus({ url, user: 'provision', seed: seed('provision'), name: 'room' });
  await bus.jsm.streams.purge('JOURNAL', { filter: filler });
  await bus.close();
}

it('a full store is a typed error at once, loses nothing, and is over when there is room again', async () => {
  const before = await house.createThread();
  const done = await house.startTurn(before, '#script {"text":"kept"}', 'r1');
  await house.settled(before, done.runId);
  const running = await house.startTurn(
    before,
    `#script ${JSON.stringify({ text: 'written in pieces. '.repeat(20), deltas: 20, delayMs: 200 })}`,
    'r2',
  );
  await eventually('its claim', async () => (await house.runCommits(before, running.runId)).length > 0);
  await fill();
  expect(await codeOf(house.createThread())).toBe('STORAGE_LOW');
  expect(await codeOf(house.startTurn(before, 'never', 'r3'))).toBe('STORAGE_LOW');
  const kept = eventsOf(await house.runCommits(before as Thread, done.runId));
  expect(kept.at(-1)).toMatchObject({ type: 'run.settled', payload: { status: 'completed' } });

  await makeRoom();
  expect(eventsOf(await house.settled(before, running.runId)).at(-1)?.payload).toMatchObject({ status: 'completed' });
  const next = await house.startTurn(before, '#script {"text":"on we go"}', 'r4');
  expect(eventsOf(await house.settled(before, next.runId)).at(-1)?.payload).toMatchObject({ status: 'completed' });
});
