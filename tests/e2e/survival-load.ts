import { join } from 'node:path';
import {
  createThread,
  type FollowingClient,
  type History,
  RpcError,
  sleep,
  startTurn,
  submissionFact,
  TEST_MODEL,
} from '@rookery/testkit';
import type { LiveView } from './live-view.ts';
import type { SurvivalHouse } from './survival-house.ts';

const THREADS = 20;
const CHATS = 4;
export const HOOK_SECRET = 'a-secret-of-the-survival-test';

/** A turn that was accepted. */
export interface AcceptedTurn {
  /** Names it in its answer and in the file of effects. */
  name: string;
  at: number;
}

export interface Load {
  /** Accepted turns by run. */
  accepted: Map<string, AcceptedTurn>;
  /** Refusals that asking again does not help; there must be none. */
  refused: string[];
  /** Lets everybody finish what they began. */
  stop(): Promise<void>;
}

/** The text that a turn must end with. */
export function expectedText(name: string): string {
  return `the answer of ${name}, word by word. `.repeat(3);
}

/** A tool with an effect that is counted, three that wait for its end side by side, then a slowly streamed answer. */
function script(effects: string, name: string): string {
  const start = { name: 'process_start', arguments: { command: `echo ${name} >> ${effects}; sleep 0.5` } };
  const wait = { name: 'process_wait', arguments: { processId: '$result', timeoutMs: 4000 } };
  const rounds = [[start], [wait, wait, wait]];
  return `work #script ${JSON.stringify({ rounds, text: expectedText(name), deltas: 20, delayMs: 80 })}`;
}

/** Twenty threads, four chats of a webhook and a writer of memories; each asks again with the same id until it has an answer. */
export function startLoad(house: SurvivalHouse, follower: FollowingClient, view: LiveView, history: History): Load {
  const accepted = new Map<string, AcceptedTurn>();
  const refused: string[] = [];
  let over = false;
  const effects = join(house.home, 'effects');

  const persist = async <T>(name: string, ask: () => Promise<T | null>): Promise<T | null> => {
    for (;;) {
      const result = await ask();
      const last = history.operations.findLast((operation) => operation.name === name);
      if (result !== null) return result;
      if (last?.outcome === 'failed') {
        refused.push(`${name}: ${last.error}`);
        return null;
      }
      await sleep(150);
    }
  };

  const talk = async (n: number) => {
    let thread: Awaited<ReturnType<typeof createThread>> | null = null;
    while (thread === null) {
      const made = async () => createThread(await follower.current(), { clientRequestId: `thread-${n}` });
      thread = await made().catch((error: unknown) => {
        if (error instanceof RpcError && error.data.retry === 'never') throw error;
        return sleep(150).then(() => null);
      });
    }
    const { threadId, branchId } = thread;
    for (let turn = 0; !over; turn += 1) {
      const name = `turn-${n}-${turn}`;
      const started = await persist(name, () =>
        history.attempt(name, submissionFact(name), async () =>
          startTurn(await follower.current(), { threadId, branchId }, script(effects, name), name),
        ),
      );
      if (started === null) return;
      accepted.set(started.runId, { name, at: performance.now() });
      while (!view.settled.has(started.runId)) await sleep(30);
    }
  };

  const remember = async () => {
    for (let n = 0; !over; n += 1) {
      const clientRequestId = `memory-${n}`;
      const content = `what was learned at ${n}`;
      const params = { kind: 'fact', scope: { type: 'global', key: null }, content, clientRequestId };
      await persist(clientRequestId, () =>
        history.attempt(clientRequestId, { stream: 'MEMORY', type: 'memory.created', where: { content } }, async () =>
          (await follower.current()).request('memory.create', params),
        ),
      );
      await sleep(150);
    }
  };

  const deliver = async (chat: number) => {
    for (let turn = 0; !over; turn += 1) {
      const name = `delivery-${chat}-${turn}`;
      const ask = async () => {
        const response = await fetch(`${house.url}/hooks/survival`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-hook-secret': HOOK_SECRET, 'x-delivery-id': name },
          body: JSON.stringify({ chat: `chat-${chat}`, content: script(effects, name) }),
          signal: AbortSignal.timeout(30_000),
        });
        if (response.status !== 202) throw new Error(`${response.status} ${await response.text()}`);
        return (await response.json()) as { runId: string };
      };
      const fact = { stream: 'JOURNAL', type: 'channel.received', where: { deliveryId: name } } as const;
      const taken = await persist(name, () => history.attempt(name, fact, ask));
      if (taken === null) return;
      accepted.set(taken.runId, { name, at: performance.now() });
      // A webhook that went on regardless would fill a queue, and how long that takes says nothing about a fault.
      while (!view.settled.has(taken.runId)) await sleep(30);
      await sleep(1500);
    }
  };

  const many = (count: number, work: (n: number) => Promise<void>) => Array.from({ length: count }, (_, n) => work(n));
  const everybody = Promise.all([remember(), ...many(CHATS, deliver), ...many(THREADS, talk)]);
  return {
    accepted,
    refused,
    stop: async () => {
      over = true;
      await everybody;
    },
  };
}

/** Saves the webhook that the load delivers to. */
export async function configureHook(follower: FollowingClient): Promise<void> {
  await (await follower.current()).request('channel.configure', {
    kind: 'webhook',
    name: 'survival',
    secret: HOOK_SECRET,
    answerUrl: null,
    ...TEST_MODEL,
  });
}
