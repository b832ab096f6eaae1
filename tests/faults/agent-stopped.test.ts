import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProcessRecord, WireEvent } from '@rookery/protocol';
import {
  chooseSeed,
  createThread,
  eventually,
  faultRow,
  readStream,
  seededRandom,
  sleep,
  startTurn,
  waitSettled,
} from '@rookery/testkit';
import { expect, it } from 'vitest';

const first = chooseSeed();

/** Commands whose end is not on record. */
function unfinished(events: readonly WireEvent[]): string[] {
  const open = new Map<string, boolean>();
  for (const { type, payload } of events) {
    if (type !== 'process.recorded') continue;
    const { processId, finishedAt } = payload.process as ProcessRecord;
    open.set(processId, finishedAt === null);
  }
  return [...open].filter(([, isOpen]) => isOpen).map(([processId]) => processId);
}

/** Two agents share the work; the one that holds the run is stopped somewhere around its tool calls. */
it.each([first, first + 1, first + 2])(
  'stops the holder of a run for longer than a takeover takes (seed %i): it writes nothing afterwards',
  async (seed) => {
    const random = seededRandom(seed);
    await faultRow(
      { slots: { agent: 2 }, services: ['gateway', 'agent', 'tool-runner'] },
      async ({ rookery, follower, model }) => {
        const client = await rookery.client();
        const thread = await createThread(client);
        const effects = join(rookery.home, 'effects');
        const call = (n: number) => ({ name: 'process_start', arguments: { command: `echo call-${n} >> ${effects}` } });
        const rounds = [1, 2, 3, 4].map((n) => [call(n)]);
        const { runId } = await startTurn(
          client,
          thread,
          `work #script ${JSON.stringify({ rounds, text: 'done', firstDelayMs: 60 })}`,
        );
        const claim = await eventually('the claim', async () =>
          (await readStream(rookery.nats, 'JOURNAL')).find(
            ({ subject, text }) => subject.endsWith(runId) && text.includes('run.claimed'),
          ),
        );
        const holder: string = JSON.parse(claim.text).by;
        const holderSlot = /-(\d+)-[^-]*$/.exec(holder)?.[1] === '1' ? 1 : 0;
        await sleep(random.integer(0, 300));
        rookery.service('agent', holderSlot).signal('SIGSTOP');
        const ran = async () =>
          (await readFile(effects, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
        const settled = await waitSettled(follower.events, runId);
        // A command that was started before the stop may still be under way, whatever became of the agent.
        await eventually('the end of every command', () => unfinished(follower.events).length === 0);
        const requests = model.requests.length;
        const before = await ran();
        rookery.service('agent', holderSlot).signal('SIGCONT');
        // It may have finished before it was stopped; else another agent has settled for it.
        if (settled.status !== 'completed')
          expect(settled).toEqual({ status: 'failed', reasonCode: 'runtime_interrupted' });
        await sleep(700);
        const after = await ran();
        expect(after).toEqual(before);
        // At most the one call whose intent was stored before the stop; its answer is written nowhere.
        expect(model.requests.length).toBeLessThanOrEqual(requests + 1);

        const next = await startTurn(client, thread, 'go on #script {"text":"still here"}');
        expect(await waitSettled(follower.events, next.runId)).toEqual({ status: 'completed', reasonCode: null });
        await client.close();
        return { effects: after };
      },
    );
  },
);
