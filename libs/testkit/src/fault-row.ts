import { checkHouse, type HouseHistory } from './check-house.ts';
import { type FollowingClient, followEvents } from './following-client.ts';
import { History } from './history/recorder.ts';
import { type RookeryOptions, startRookery, type TestRookery } from './rookery.ts';
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts';

/** What a row of the fault matrix works with. */
export interface FaultRow {
  rookery: TestRookery;
  model: ScriptedModel;
  /** Attempts of clients, for the checker. */
  history: History;
  /** A client that follows all events over any reconnect; its events are checked at the end. */
  follower: FollowingClient;
  /** More for the checker: effects, other clients. */
  told: HouseHistory;
}

/**
 * Starts the product with a scripted model, lets a row happen, and runs the checker over what is left. A failure
 * carries what the services logged.
 */
export async function faultRow(options: RookeryOptions, happen: (row: FaultRow) => Promise<void>): Promise<void> {
  const model = await startScriptedModel();
  let rookery: TestRookery | null = null;
  let follower: FollowingClient | null = null;
  try {
    rookery = await startRookery({ modelUrl: model.url, ...options });
    const { url, token } = rookery;
    follower = followEvents({ url: () => url, token });
    await follower.current();
    const history = new History();
    const told: HouseHistory = {};
    await happen({ rookery, model, history, follower, told });
    await caughtUp(follower, rookery);
    const violations = await checkHouse(rookery, {
      ...told,
      operations: history.operations,
      clients: [{ name: 'follower', events: follower.events }, ...(told.clients ?? [])],
    });
    if (follower.faults.length > 0) throw new Error(`the follower met ${follower.faults.join('; ')}`);
    if (violations.length > 0) {
      throw new Error(`the checker found:\n${violations.map(({ rule, detail }) => `${rule}: ${detail}`).join('\n')}`);
    }
  } catch (error) {
    if (rookery !== null) process.stderr.write(`${await rookery.logs(25)}\n`);
    throw error;
  } finally {
    await follower?.stop();
    await rookery?.stop();
    await model.stop();
  }
}

/** Waits until a follower has seen what the gateway calls its newest event. */
async function caughtUp(follower: FollowingClient, rookery: TestRookery): Promise<void> {
  const client = await rookery.client();
  const { latestSeq } = await client.request<{ latestSeq: number }>('event.replay', { limit: 1 });
  await client.close();
  const deadline = performance.now() + 5000;
  while ((follower.events.at(-1)?.seq ?? 0) < latestSeq && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
