import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  answerOf,
  checkHouse,
  chooseSeed,
  commitsOf,
  configureModel,
  connectClient,
  eventually,
  followEvents,
  History,
  readStream,
  seededRandom,
  sleep,
  startScriptedModel,
} from '@rookery/testkit';
import { afterEach, expect, it } from 'vitest';
import { LiveView } from './live-view.ts';
import { type SurvivalHouse, startHouse, type Victim, victims, WORKERS } from './survival-house.ts';
import { configureHook, expectedText, startLoad } from './survival-load.ts';

/** How long after a restart a run may take that lived through it. */
const SETTLED_WITHIN_MS = 20_000;
/** Bound of what has no promise of its own; long, since a machine may be slow. */
const PATIENCE_MS = 60_000;
const seed = chooseSeed();

interface Kill {
  name: Victim;
  /** Last sequence of JOURNAL before and after the kill; -1 where the server was the victim. */
  before: number;
  after: number;
  killedAt: number;
  restartedAt: number;
}

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Waits for a moment when enough is under way, a random time later still. */
async function momentToKill(view: LiveView, wait: () => number): Promise<void> {
  const busy = () => view.streaming.size >= 5 && view.calls.size >= 3;
  const deadline = performance.now() + PATIENCE_MS;
  do {
    await eventually('5 runs that stream and 3 tool calls that run', busy, { timeoutMs: PATIENCE_MS, everyMs: 5 });
    await sleep(wait());
  } while (!busy() && performance.now() < deadline);
  if (!busy()) throw new Error('there was never enough under way to kill anything');
}

async function killOne(house: SurvivalHouse, name: Victim): Promise<Kill> {
  const withServer = name !== 'nats-server';
  const before = withServer ? await house.lastSeq() : -1;
  const killedAt = performance.now();
  const { restarted } = await house.kill(name);
  const after = withServer ? await house.lastSeq() : -1;
  await restarted;
  return { name, before, after, killedAt, restartedAt: performance.now() };
}

it(`loses nothing when each process is killed once under load (seed ${seed})`, { timeout: 400_000 }, async () => {
  const random = seededRandom(seed);
  const model = await startScriptedModel();
  cleanups.push(() => model.stop());
  const house = await startHouse();
  cleanups.push(() => house.stop());
  const { url, token } = house;
  expect((await house.varz()).jetstream?.config?.sync_always).toBe(true);

  await configureModel(await connectClient({ url, token }), model.url);
  const view = new LiveView();
  const follower = followEvents({ url: () => url, token, onEvent: (event) => view.take(event) });
  cleanups.push(() => follower.stop());
  await configureHook(follower);
  const history = new History();
  const load = startLoad(house, follower, view, history);

  const kills: Kill[] = [];
  for (const name of random.shuffle(victims)) {
    await momentToKill(view, () => random.integer(0, 250));
    kills.push(await killOne(house, name));
    await sleep(1000);
  }
  await load.stop();
  const settledAll = () => [...load.accepted.keys()].every((runId) => view.settled.has(runId));
  await eventually('every accepted turn to end', settledAll, { timeoutMs: PATIENCE_MS });

  // Every accepted turn ended in time: within 20 s of the newest restart that it lived through, or of its own beginning
  // where it stood in the queue until later. The queue is the load's doing: three times as many threads as workers.
  let longest = 0;
  for (const [runId, { at, name: turn }] of load.accepted) {
    const settledAt = view.settled.get(runId)?.at ?? Number.POSITIVE_INFINITY;
    const kill = kills.findLast(({ killedAt }) => killedAt < settledAt);
    if (kill === undefined || at > kill.restartedAt) continue;
    const took = settledAt - Math.max(kill.restartedAt, view.begun.get(runId) ?? 0);
    expect(took, `${turn} after the restart of ${kill.name}`).toBeLessThan(SETTLED_WITHIN_MS);
    longest = Math.max(longest, took);
  }
  expect(load.refused).toEqual([]);

  // Which run failed, and whether its holder was the agent that was killed.
  const commits = commitsOf(await readStream(house.nats, 'JOURNAL'));
  const holders = new Map<string, string>();
  const claimedAt = new Map<string, number>();
  for (const { runId, events, streamSeq } of commits) {
    const claim = events.find(({ type }) => type === 'run.claimed');
    if (claim === undefined || runId === undefined) continue;
    holders.set(runId, String(claim.payload.holder));
    claimedAt.set(runId, streamSeq);
  }
  const agentKill = kills.find(({ name }) => name === 'agent');
  const runnerKill = kills.find(({ name }) => name === 'tool-runner');
  if (agentKill === undefined || runnerKill === undefined) throw new Error('not all were killed');
  const killedAgent = [...claimedAt]
    .filter(([, at]) => at <= agentKill.before)
    .map(([runId]) => holders.get(runId))
    .at(-1);
  const texts = new Map([...load.accepted].map(([runId, { name }]) => [runId, expectedText(name)]));
  let completed = 0;
  const interrupted: string[] = [];
  for (const [runId, end] of view.settled) {
    const text = answerOf(follower.events, runId);
    if (end.status === 'completed') {
      expect(text, `answer of ${runId}`).toBe(texts.get(runId));
      completed += 1;
      continue;
    }
    interrupted.push(`${load.accepted.get(runId)?.name} claimed at ${claimedAt.get(runId)}`);
    expect(`${end.status} ${end.reasonCode}`, `end of ${runId} (${text})`).toBe('failed runtime_interrupted');
    expect(holders.get(runId), `holder of ${runId}`).toBe(killedAgent);
    expect(texts.get(runId)?.startsWith(text), `partial text of ${runId}`).toBe(true);
  }
  expect(interrupted.length, interrupted.join('; ')).toBeLessThanOrEqual(WORKERS);

  // Which tool call failed, and whether it ran at the kill of the runner or in a run that was interrupted.
  const openedAt = new Map<string, number>();
  /** Runs in which a call failed as it may: their model goes on without what that call would have given. */
  const affected = new Set<string>();
  for (const { events, streamSeq, runId = '' } of commits) {
    for (const { type, itemId = '', payload } of events) {
      const item = payload.item as { kind: string; content: string; data: { toolCallItemId?: string } } | undefined;
      if (type === 'item.started' && item?.kind === 'tool_call') openedAt.set(itemId, streamSeq);
      if (type !== 'item.completed' || item?.kind !== 'tool_result') continue;
      const result = JSON.parse(item.content) as { ok: boolean; errorCode?: string };
      if (result.ok) continue;
      const opened = openedAt.get(item.data.toolCallItemId ?? '') ?? Number.POSITIVE_INFINITY;
      const ranAtKill = opened <= runnerKill.after && streamSeq > runnerKill.before;
      const interrupted = view.settled.get(runId)?.reasonCode === 'runtime_interrupted';
      const follows = affected.has(runId) && result.errorCode === 'invalid_arguments';
      if (ranAtKill || interrupted) affected.add(runId);
      expect(ranAtKill || interrupted || follows, `failed call at ${streamSeq}: ${item.content}`).toBe(true);
    }
  }

  // A command may outlive its run, and its end is written when it comes.
  let newest = -1;
  const isQuiet = async () => {
    const before = newest;
    newest = await house.lastSeq();
    return newest === before;
  };
  await eventually('a quiet journal', isQuiet, { timeoutMs: PATIENCE_MS, everyMs: 500 });
  const replayed = followEvents({ url: () => url, token });
  cleanups.push(() => replayed.stop());
  await eventually('a replay from 0', () => replayed.events.at(-1)?.seq === follower.events.at(-1)?.seq, {
    timeoutMs: PATIENCE_MS,
  });
  expect(follower.faults).toEqual([]);
  const effects = (await readFile(join(house.home, 'effects'), 'utf8')).split('\n').filter((line) => line !== '');
  const violations = await checkHouse(house, {
    operations: history.operations,
    effects,
    clients: [
      { name: 'connected', events: follower.events },
      { name: 'replayed', events: replayed.events },
    ],
  });
  expect(violations).toEqual([]);
  expect(history.operations.some(({ name, outcome }) => name.startsWith('delivery-') && outcome === 'ok')).toBe(true);
  process.stderr.write(
    `survival: seed ${seed}, ${kills.map(({ name }) => name).join(' ')}; ${view.settled.size} runs, ${completed} completed, ` +
      `${effects.length} effects, ${history.operations.length} operations, ${follower.connections()} connections, ` +
      `longest ${Math.round(longest)} ms after a restart\n`,
  );
});
