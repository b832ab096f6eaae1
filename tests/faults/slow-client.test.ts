import { readFile } from 'node:fs/promises';
import { createThread, eventually, faultRow, startTurn, waitSettled } from '@rookery/testkit';
import { expect, it } from 'vitest';

const MIB = 1024 * 1024;

async function memoryOf(pid: number): Promise<number> {
  const pages = Number((await readFile(`/proc/${pid}/statm`, 'utf8')).split(' ')[1]);
  return (pages * 4096) / MIB;
}

it('closes a client that reads nothing with a code to come back with; its buffer is bounded and others go on', async () => {
  await faultRow(
    { timings: { sendTimeoutMs: 500 }, services: ['gateway', 'agent', 'tool-runner'] },
    async ({ rookery, follower }) => {
      const asker = await rookery.client();
      const thread = await createThread(asker);
      // A journal whose replay is large: 55 KB of text in each of some answers.
      const long = `go #script ${JSON.stringify({ text: 'many words '.repeat(5000), deltas: 4 })}`;
      for (let n = 0; n < 4; n += 1) await waitSettled(follower.events, (await startTurn(asker, thread, long)).runId);

      const slow = await rookery.client();
      const before = await memoryOf(rookery.service('gateway').pid);
      let closed: { code: number; reason: string } | null = null;
      void slow.closed.then((end) => {
        closed = end;
      });
      slow.socket.pause();
      // What it asks for and never reads: a gigabyte.
      for (let n = 0; n < 2000; n += 1) slow.request('event.replay', { limit: 1000 }).catch(() => {});
      const quick = await startTurn(asker, thread, 'quick #script {"text":"not held up"}');
      expect(await waitSettled(follower.events, quick.runId)).toEqual({ status: 'completed', reasonCode: null });

      await eventually('the gateway to give the slow client up', async () => {
        const text = await fetch(`${rookery.url}/metrics`, { headers: { authorization: `Bearer ${rookery.token}` } });
        return /slow\S* [1-9]/.test(await text.text());
      });
      // Measured: 52 MiB, of which the connection's own queue may take 16.
      expect((await memoryOf(rookery.service('gateway').pid)) - before).toBeLessThan(200);
      slow.socket.resume();
      // The close frame stands behind what the network still holds; a client that takes too long is cut off instead.
      await eventually('the end of its connection', () => closed !== null);
      expect([1013, 1006]).toContain((closed as { code: number } | null)?.code);
      await asker.close();
      return undefined;
    },
  );
});
