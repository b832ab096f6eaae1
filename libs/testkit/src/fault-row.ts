import { checkHouse, type HouseHistory } from './check-house.ts';
import { eventually } from './eventually.ts';
import { type FollowingClient, followEvents } from './following-client.ts';
import { History } from './history/recorder.ts';
import { type RookeryOptions, startRookery, type TestRookery } from './rookery.ts';
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts';

/** The product with a scripted model and a client that follows, for rows of the fault matrix. */
export interface FaultHouse {
  rookery: TestRookery;
  model: ScriptedModel;
  /** Attempts of clients, for the checker. */
  history: History;
  /** A client that follows all events over any reconnect; its events are checked too. */
  follower: FollowingClient;
  /** Runs the checker over all that has happened so far; throws with what it found. */
  check(told?: HouseHistory): Promise<void>;
  stop(): Promise<void>;
}

export async function startFaultHouse(options: RookeryOptions = {}): Promise<FaultHouse> {
  const model = await startScriptedModel();
  const rookery = await startRookery({ modelUrl: model.url, ...options }).catch(async (error: unknown) => {
    await model.stop();
    throw error;
  });
  const { url, token } = rookery;
  const follower = followEvents({ url: () => url, token });
  const history = new History();
  await follower.current();
  return {
    rookery,
    model,
    history,
    follower,
    check: async (told = {}) => {
      await caughtUp(follower, rookery);
      const violations = await checkHouse(rookery, {
        ...told,
        operations: history.operations,
        clients: [{ name: 'follower', events: follower.events }, ...(told.clients ?? [])],
      });
      if (follower.faults.length > 0) throw new Error(`the follower met ${follower.faults.join('; ')}`);
      if (violations.length === 0) return;
      throw new Error(`the checker found:\n${violations.map(({ rule, detail }) => `${rule}: ${detail}`).join('\n')}`);
    },
    stop: async () => {
      await follower.stop();
      await rookery.stop();
      await model.stop();
    },
  };
}

/** Runs one row in a house of its own, then the checker. A failure prints what the services logged. */
export async function faultRow(
  options: RookeryOptions,
  happen: (house: FaultHouse) => Promise<HouseHistory | undefined>,
): Promise<void> {
  const house = await startFaultHouse(options);
  try {
    await house.check(await happen(house));
  } catch (error) {
    process.stderr.write(`${await house.rookery.logs(Number(process.env.ROOKERY_TEST_LOG_LINES ?? 25))}\n`);
    throw error;
  } finally {
    await house.stop();
  }
}

/** How long nothing may be written before a journal counts as quiet: the end of a command is on record sooner. */
const QUIET_MS = 500;

/** Waits until nothing is written any more and a follower has seen what the gateway calls its newest event. */
async function caughtUp(follower: FollowingClient, rookery: TestRookery): Promise<void> {
  const client = await rookery.client();
  let newest = -1;
  const level = async () => {
    const { latestSeq } = await client.request<{ latestSeq: number }>('event.replay', { limit: 1 });
    const isQuiet = latestSeq === newest;
    newest = latestSeq;
    return isQuiet && (follower.events.at(-1)?.seq ?? 0) >= latestSeq;
  };
  try {
    await eventually('the follower to be level', level, { timeoutMs: 60_000, everyMs: QUIET_MS });
  } finally {
    await client.close();
  }
}
