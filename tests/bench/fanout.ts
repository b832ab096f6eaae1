import { createThread, startTurn, waitSettled } from '@rookery/testkit';
import { median, print } from './figures.ts';
import type { BenchHouse } from './house.ts';

const CLIENTS = 200;
const RUNS = 5;

/** How fast one streaming thread reaches many clients, and how far the slowest is behind the first. */
export async function benchFanout(house: BenchHouse): Promise<void> {
  const asker = await house.client();
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => house.client()));
  /** First and last arrival of each event. */
  let arrivals = new Map<string, { first: number; last: number; count: number }>();
  let total = 0;
  for (const { socket } of clients) {
    // Only the position is looked at: two hundred parsers in one process would measure themselves.
    socket.removeAllListeners('message');
    socket.on('message', (data: Buffer) => {
      const seq = /"seq":(\d+)/.exec(data.toString('latin1', 0, 200))?.[1];
      if (seq === undefined) return;
      const now = performance.now();
      total += 1;
      const seen = arrivals.get(seq);
      if (seen === undefined) arrivals.set(seq, { first: now, last: now, count: 1 });
      else {
        seen.last = now;
        seen.count += 1;
      }
    });
  }
  const content = `go #script ${JSON.stringify({ text: 'some words of the stream '.repeat(400), deltas: 400, delayMs: 1 })}`;
  const rates: number[] = [];
  const lags: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const thread = await createThread(asker);
    arrivals = new Map();
    total = 0;
    const started = performance.now();
    const { runId } = await startTurn(asker, thread, content);
    await waitSettled(asker.events, runId, 60_000);
    const complete = () => [...arrivals.values()].every(({ count }) => count === CLIENTS);
    while (!complete() && performance.now() - started < 60_000) await new Promise((resolve) => setTimeout(resolve, 5));
    rates.push(total / ((performance.now() - started) / 1000));
    lags.push(Math.max(...[...arrivals.values()].map(({ first, last }) => last - first)));
  }
  print('fanout_events_per_s', median(rates), 'events/s', null);
  print('fanout_slowest_lag_ms', median(lags), 'ms', null);
  await Promise.all([asker, ...clients].map((client) => client.close()));
}
