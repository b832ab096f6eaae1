import { conversationProjection } from '@rookery/kernel';
import { Applier, MemoryFile } from '@rookery/read-model/testing';
import { checkHistory, type Violation } from '@rookery/testkit';
import { installVirtualTime, type Weather } from '@rookery/testkit/simulation';
import { SimulatedAgent } from './agent.ts';
import { checkSimulation } from './checks.ts';
import { SimulatedClient } from './client.ts';
import { SimulatedModel } from './model.ts';
import { SimulatedRunner } from './runner.ts';
import { startTroubles, TROUBLE_SPAN_MS } from './troubles.ts';
import { startWorkload } from './workload.ts';
import { createWorld, type World } from './world.ts';

export interface SimulationReport {
  seed: number;
  violations: Violation[];
  /** SHA-256 of everything that happened, in order. */
  digest: string;
  /** The lines that the digest is of; empty unless they were asked for. */
  trace: readonly string[];
  weather: Weather;
  facts: { steps: number; virtualMs: number; commits: number; runs: number; modelCalls: number; effects: number };
}

const HOSTS = ['alpha', 'beta', 'gamma'];
/** How long everything may take to come to its end once no fault happens any more, virtual milliseconds. */
const REST_MS = 240_000;
/** How long those who have lost commits may take to notice, virtual milliseconds. */
const REGRESSED_MS = 40_000;
/** How long nothing more may happen to the journal after that. */
const QUIET_MS = 6000;

/**
 * Runs the real agent instances, read models, appends and tool calls in a world drawn from a seed, and judges what came
 * of it. The same seed gives the same report, byte for byte.
 */
export async function simulate(seed: number, { keepTrace = false } = {}): Promise<SimulationReport> {
  const world = createWorld(seed, keepTrace);
  const { engine, server } = world;
  const uninstall = installVirtualTime(engine);
  const { stackTraceLimit } = Error;
  // Most errors here are part of the game, and their stacks take a tenth of the time.
  if (!keepTrace) Error.stackTraceLimit = 0;
  const floating: unknown[] = [];
  const onFloating = (reason: unknown) => void floating.push(reason);
  process.on('unhandledRejection', onFloating);
  const model = new SimulatedModel(engine);
  const agents = HOSTS.slice(0, engine.random.integer(1, HOSTS.length)).map(
    (host) => new SimulatedAgent(world, host, model),
  );
  const runner = new SimulatedRunner(world);
  const violations: Violation[] = [];
  try {
    runner.boot();
    for (const agent of agents) agent.boot(engine.random.next() * 200);
    const client = new SimulatedClient(world);
    const early: Violation[] = [];
    model.onCall = (record) => {
      const runs = [...world.journal.runs.values()].filter(({ modelId }) => modelId === record.modelId);
      const announced = runs.reduce((sum, { prepared }) => sum + prepared, 0);
      const begun = model.calls.filter(({ modelId }) => modelId === record.modelId).length;
      if (begun > announced) early.push({ rule: 'intent-first', detail: `call ${record.call} of ${record.modelId}` });
    };
    const workload = startWorkload(world, client);
    startTroubles(world, agents, runner);
    await engine.run(() => false, TROUBLE_SPAN_MS + 1000);
    server.calm = true;
    for (const agent of agents) if (agent.running !== null) engine.continue(agent.running.owner);
    if (world.regression.happened) {
      // A person has to choose a way back, so nothing comes to its end here.
      await engine.run(() => false, engine.now + REGRESSED_MS);
      violations.push(...world.regression.check(agents));
      return reportOf(seed, violations, world, model, runner);
    }
    const isDone = () =>
      client.open === 0 &&
      world.journal.unsettled === 0 &&
      agents.every((agent) => agent.isLevel()) &&
      world.journal.waitingSteers().length === 0;
    const ended = await engine.run(isDone, engine.now + REST_MS);
    if (!ended) violations.push({ rule: 'comes-to-rest', detail: whatIsOpen(world, client, agents) });
    await engine.run(() => false, engine.now + QUIET_MS);
    await new Promise((resolve) => setImmediate(resolve));
    const operations = client.operations;
    violations.push(
      ...early,
      ...floating.map((reason) => ({ rule: 'floating', detail: String((reason as Error).stack ?? reason) })),
      ...checkHistory({
        operations,
        journal: server.stream.messages.map((message) => ({
          ...message,
          text: new TextDecoder().decode(message.data),
        })),
        effects: runner.effects.map(({ itemId }) => itemId),
        readModelDigests: digests(world, agents),
      }),
      ...checkSimulation(world, { model, runner, workload, operations }),
    );
  } finally {
    uninstall();
    Error.stackTraceLimit = stackTraceLimit;
    // Node tells of a rejection that nobody took only once it has nothing else to do.
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', onFloating);
    for (const { file } of agents) file.remove();
    runner.close();
  }
  return reportOf(seed, violations, world, model, runner);
}

function reportOf(
  seed: number,
  violations: Violation[],
  world: World,
  model: SimulatedModel,
  runner: SimulatedRunner,
): SimulationReport {
  const { engine } = world;
  const { digest, lines } = engine.trace();
  const facts = {
    steps: engine.steps,
    virtualMs: Math.round(engine.now),
    commits: world.journal.commits.length,
    runs: world.journal.runs.size,
    modelCalls: model.calls.length,
    effects: runner.effects.length,
  };
  return { seed, violations, digest, trace: lines, weather: world.weather, facts };
}

function whatIsOpen(world: World, client: SimulatedClient, agents: readonly SimulatedAgent[]): string {
  const runs = [...world.journal.runs.values()].filter(({ settledSeq }) => settledSeq === null);
  return JSON.stringify({
    commands: client.open,
    runs: runs.map(({ runId, holder }) => ({ runId, holder })),
    steers: world.journal.waitingSteers(),
    behind: agents.filter((agent) => !agent.isLevel()).map(({ host }) => host),
  });
}

/** What each instance has made of the journal, beside a file made anew. */
function digests(world: World, agents: readonly SimulatedAgent[]) {
  const anew = new MemoryFile(conversationProjection);
  const applier = new Applier(anew.db, conversationProjection);
  applier.apply(
    world.server.stream.messages.map((message) => ({
      ...message,
      isCommit: message.headers['Rookery-Commit'] === '1',
    })),
  );
  const rebuilt = anew.digest();
  anew.remove();
  return agents.map(({ host, file }) => ({ name: host, live: file.digest(), rebuilt }));
}
