import { productionTimings, type Timings } from '@rookery/protocol';
import { drawWeather, Engine, SimulatedServer, type Weather } from '@rookery/testkit/simulation';
import { JournalView } from './journal-view.ts';
import { Regression } from './regression.ts';

/** What everything in one simulation shares. */
export interface World {
  readonly engine: Engine;
  readonly weather: Weather;
  readonly server: SimulatedServer;
  readonly timings: Timings;
  /** The journal as it is stored, read with JSON alone. */
  readonly journal: JournalView;
  readonly regression: Regression;
}

/** The world of a seed: the waits are those of production, since time costs nothing. */
export function createWorld(seed: number, keepTrace: boolean): World {
  const engine = new Engine(seed, keepTrace);
  const weather = drawWeather(engine.random);
  const server = new SimulatedServer(engine, weather);
  const journal = new JournalView();
  const regression = new Regression();
  server.onStored = (message, sentAt) => {
    const commit = journal.take(message);
    if (commit !== null) regression.watch(commit, sentAt);
  };
  return { engine, weather, server, timings: { ...productionTimings }, journal, regression };
}
