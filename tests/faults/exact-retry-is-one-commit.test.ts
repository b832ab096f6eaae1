import { connectBus } from '@rookery/bus';
import { type AppendResult, openJournal } from '@rookery/journal';
import { commitOf, startNats, startNatsCluster } from '@rookery/testkit';
import { afterAll, describe, expect, it } from 'vitest';

const started: { stop(): Promise<void> }[] = [];
afterAll(async () => {
  for (const each of started) await each.stop();
});

/** Appends a commit, the same again, another one behind it, and the first once more. */
async function retries(server: { url: string; seed(user: string): string }): Promise<AppendResult[]> {
  const bus = await connectBus({ url: server.url, user: 'agent', seed: server.seed('agent'), name: 'retry' });
  try {
    const journal = openJournal(bus);
    const subject = 'journal.home.thread.t.run.r';
    const first = commitOf(subject, 'a');
    const results = [await journal.append({ subject, expected: 0, commit: first })];
    results.push(await journal.append({ subject, expected: 0, commit: first }));
    const head = results[0]?.outcome === 'committed' ? results[0].streamSeq : 0;
    await journal.append({ subject, expected: head, commit: commitOf(subject, 'b') });
    results.push(await journal.append({ subject, expected: 0, commit: first }));
    expect((await journal.readSubject(subject, 0)).map(({ commit }) => commit.cause)).toEqual(['a', 'b']);
    return results;
  } finally {
    await bus.close();
  }
}

describe('an exact retry is one commit, at the sequence of the first attempt', () => {
  it('on one replica, where the server answers "wrong last sequence"', async () => {
    const nats = await startNats();
    started.push(nats);
    const [first, again, later] = await retries(nats);
    expect(first).toMatchObject({ outcome: 'committed', duplicate: false });
    expect(again).toEqual({ ...first, duplicate: true });
    expect(later).toEqual({ ...first, duplicate: true });
  });

  it('on three replicas, where the server answers "duplicate"', async () => {
    const cluster = await startNatsCluster();
    started.push(cluster);
    const [first, again, later] = await retries(cluster);
    expect(first).toMatchObject({ outcome: 'committed', duplicate: false });
    expect(again).toEqual({ ...first, duplicate: true });
    expect(later).toEqual({ ...first, duplicate: true });
  });
});
