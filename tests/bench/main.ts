// `npm run bench`: one line of JSON about the machine and the server, then one a figure. Medians; it is no test.
// Names as arguments leave the other parts out: npm run bench -- append turns
import { rm } from 'node:fs/promises';
import { configureModel, sleep } from '@rookery/testkit';
import { temporaryHome } from '../service/running-house.ts';
import { benchAppend } from './append.ts';
import { benchFanout } from './fanout.ts';
import { print } from './figures.ts';
import { type BenchHouse, startBenchHouse } from './house.ts';
import { printMachine, residentMib } from './machine.ts';
import { benchLongJournal } from './rebuild.ts';
import { startModelProcess } from './start-model.ts';
import { benchTraffic } from './traffic.ts';
import { benchTurns } from './turns.ts';

const parts = { append: benchAppend, turns: benchTurns, traffic: benchTraffic, fanout: benchFanout };
const chosen = process.argv.slice(2);
const wanted = (name: string): boolean => chosen.length === 0 || chosen.includes(name);
const IDLE_MS = 5000;
const WARM_STARTS = 3;

async function resident(house: BenchHouse): Promise<number> {
  await sleep(IDLE_MS);
  return await residentMib(Object.values(await house.pids()));
}

async function main(): Promise<void> {
  const home = await temporaryHome();
  const model = await startModelProcess();
  let house: BenchHouse | null = null;
  try {
    house = await startBenchHouse(home);
    await printMachine(house);
    // An empty home: keys, streams and databases are made. The packages and bundles are there.
    if (wanted('start')) print('start_cold_s', house.startedIn, 's', null);
    await configureModel(await house.client(), model.url);
    for (const [name, part] of Object.entries(parts)) if (wanted(name)) await part(house);
    await house.stop();
    if (wanted('start')) {
      const times: number[] = [];
      for (let n = 0; n < WARM_STARTS; n += 1) {
        house = await startBenchHouse(home);
        times.push(house.startedIn);
        await house.stop();
      }
      print('start_warm_s', times.sort((a, b) => a - b)[1] ?? Number.NaN, 's', { under: 6 });
    }
    if (wanted('rss')) await benchMemory();
    if (wanted('long')) await benchLongJournal();
  } finally {
    await house?.stop();
    model.stop();
    await rm(home, { recursive: true, force: true });
  }
}

/** Memory of homes that do nothing: as processes, and with the services in one. */
async function benchMemory(): Promise<void> {
  for (const [name, args, under] of [
    ['rss_idle_mib', [], 450],
    ['rss_one_process_mib', ['--one-process'], 200],
  ] as const) {
    const home = await temporaryHome();
    const house = await startBenchHouse(home, [...args]);
    try {
      print(name, await resident(house), 'MiB', { under });
    } finally {
      await house.stop();
      await rm(home, { recursive: true, force: true });
    }
  }
}

await main();
