import type { SimulatedAgent } from './agent.ts';
import type { SimulatedRunner } from './runner.ts';
import type { World } from './world.ts';

/** When troubles may come, and how long the longest of them last, virtual milliseconds. */
export const TROUBLE_SPAN_MS = 30_000;
const LONG_MS = 40_000;

/** Draws what befalls the processes and the server in the course of a simulation. */
export function startTroubles(world: World, agents: readonly SimulatedAgent[], runner: SimulatedRunner): void {
  const { engine, weather, server } = world;
  const { random } = engine;
  const at = (what: string, strike: () => void) =>
    engine.after(engine.world, 500 + random.next() * TROUBLE_SPAN_MS, what, strike);
  const times = (count: number, what: string, strike: () => void) => {
    for (let done = 0; done < count; done += 1) at(what, strike);
  };
  const length = () => random.next() * random.pick([300, 4000, 15_000, LONG_MS]);

  times(weather.kills, 'kill', () => random.pick(agents).kill(length()));
  times(weather.shutdowns, 'shutdown', () => random.pick(agents).shutDown(length()));
  times(weather.runnerKills, 'runner kill', () => runner.kill(length()));
  times(weather.stops, 'stop', () => {
    const owner = random.pick(agents).running?.owner;
    if (owner === undefined || !owner.alive || owner.stopped) return;
    engine.stop(owner);
    engine.after(engine.world, length(), 'continue', () => engine.continue(owner));
  });
  times(weather.cuts, 'cut', () => {
    const links = [...server.links];
    if (links.length > 0) server.cut(random.pick(links), length() / 2);
  });
  times(weather.serverRestarts, 'server kill', () => {
    if (server.isUp) server.restart(random.next() * 6000, null);
  });
  if (weather.regression) at('regression', () => world.regression.strike(world, agents));
  if (weather.clocks) {
    times(random.integer(1, 3), 'clock jumps', () => {
      const owner = random.pick(agents).running?.owner;
      if (owner !== undefined) owner.skewMs += random.integer(-3_600_000, 3_600_000);
    });
  }
}
