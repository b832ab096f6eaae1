import { createThread, sleep, startTurn, waitSettled } from '@rookery/testkit';
import { print } from './figures.ts';
import type { BenchHouse } from './house.ts';

const MEASURED = [1, 100, 1000];
const WITHIN = 0.1;

/** Bytes that the journal and a client get by one turn with a tool call, early and late in a thread. */
export async function benchTraffic(house: BenchHouse): Promise<void> {
  const client = await house.client();
  let received = 0;
  client.socket.on('message', (data) => {
    received += (data as Buffer).length;
  });
  const thread = await createThread(client);
  const content = `list #script ${JSON.stringify({ tools: [{ name: 'list', arguments: {} }], text: 'the same answer each time' })}`;
  let first = 0;
  for (let n = 1; n <= (MEASURED.at(-1) ?? 0); n += 1) {
    const measured = MEASURED.includes(n);
    if (measured) await sleep(300);
    const before = measured ? received + (await house.journalBytes()) : 0;
    const { runId } = await startTurn(client, thread, content);
    const end = await waitSettled(client.events, runId, 30_000);
    if (end.status !== 'completed') throw new Error(`turn ${n} ended as ${JSON.stringify(end)}`);
    client.events.length = 0;
    if (!measured) continue;
    await sleep(300);
    const bytes = received + (await house.journalBytes()) - before;
    if (n === 1) first = bytes;
    const holds = Math.abs(bytes - first) <= first * WITHIN;
    print(`traffic_turn${n}_bytes`, bytes, 'bytes', { goal: 'within 10 % of traffic_turn1_bytes', holds });
  }
  await client.close();
}
