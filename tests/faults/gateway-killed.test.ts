import { createThread, eventually, faultRow, followEvents, startTurn, waitSettled } from '@rookery/testkit';
import { expect, it } from 'vitest';

const CLIENTS = 20;

it('kills the gateway with 20 clients: each goes on behind its last event, without gap or repeat', async () => {
  await faultRow({ services: ['gateway', 'agent', 'tool-runner'] }, async ({ rookery, follower }) => {
    const { url, token } = rookery;
    const clients = Array.from({ length: CLIENTS }, (_, n) =>
      followEvents({ url: () => url, token, protocolVersion: n % 2 === 0 ? 13 : 12 }),
    );
    try {
      await Promise.all(clients.map((client) => client.current()));
      const asker = await rookery.client();
      const threads = [await createThread(asker), await createThread(asker), await createThread(asker)];
      const script = `go #script ${JSON.stringify({ text: 'streamed to everyone. '.repeat(20), deltas: 40, delayMs: 40 })}`;
      const turns = await Promise.all(threads.map((thread) => startTurn(asker, thread, script)));
      await eventually('all to stream', () =>
        turns.every(({ runId }) =>
          follower.events.some((event) => event.runId === runId && event.type === 'item.delta'),
        ),
      );
      await rookery.killAndWait('gateway');
      for (const { runId } of turns) {
        expect(await waitSettled(follower.events, runId)).toEqual({ status: 'completed', reasonCode: null });
      }
      const last = follower.events.at(-1)?.seq;
      await eventually('all clients to be level', () => clients.every(({ events }) => events.at(-1)?.seq === last));
      for (const client of clients) {
        expect(client.connections()).toBeGreaterThanOrEqual(2);
        expect(client.faults).toEqual([]);
      }
      return { clients: clients.map(({ events }, n) => ({ name: `client ${n}`, events })) };
    } finally {
      await Promise.all(clients.map((client) => client.stop()));
    }
  });
});
