import { AppError, DEFAULT_WORLD, formatSubject, type Thread } from '@rookery/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AgentHouse, eventsOf, MODEL, PROVIDER, startAgentHouse } from './agent-house.ts';

const ROUNDS = 20;
let house: AgentHouse;

beforeAll(async () => {
  house = await startAgentHouse();
  await house.startRunner();
  await house.startAgent(0);
  await house.startAgent(1);
});
afterAll(() => house.stop());

/** Two commands at once, as an edge repeats one: with the same command id. Which agents take them is the server's choice. */
async function both(method: string, params: object[], commandId: string): Promise<unknown[]> {
  return await Promise.all(
    params.map((each) =>
      house.command(method, each, commandId).catch((error: unknown) => {
        if (error instanceof AppError) return error;
        throw error;
      }),
    ),
  );
}

test('of two turns with one request id and different contents one is taken, and the other one is refused', async () => {
  const thread = await house.createThread();
  const turn = (round: number, content: string) => ({
    threadId: thread.id,
    branchId: thread.defaultBranchId,
    content: `${content} ${round}`,
    providerId: PROVIDER,
    modelId: MODEL,
    clientRequestId: `same-${round}`,
  });
  const accepted: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const answers = await both('turn.start', [turn(round, 'A'), turn(round, 'B')], `turn-${round}`);
    const codes = answers.map((answer) => (answer instanceof AppError ? answer.code : 'accepted'));
    expect([...codes].sort()).toEqual(['IDEMPOTENCY_CONFLICT', 'accepted']);
    accepted.push(codes[0] === 'accepted' ? `A ${round}` : `B ${round}`);
  }
  const subject = formatSubject({ kind: 'turns', world: DEFAULT_WORLD, threadId: thread.id });
  const items = eventsOf(await house.journal.readSubject(subject, 0)).flatMap(({ payload }) =>
    payload.item === undefined ? [] : [(payload.item as { content: string }).content],
  );
  expect(items).toEqual(accepted);
});

test('a thread that two agents create for one request is answered alike by both, as it is stored', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const params = { title: 'Once', clientRequestId: `race-${round}` };
    const [first, second] = await both('thread.create', [params, params], `create-${round}`);
    expect(first).not.toBeInstanceOf(AppError);
    expect(second).toEqual(first);
    const { thread } = first as { thread: Thread };
    const subject = formatSubject({ kind: 'turns', world: DEFAULT_WORLD, threadId: thread.id });
    const stored = eventsOf(await house.journal.readSubject(subject, 0)).filter(
      ({ type }) => type === 'thread.created',
    );
    expect(stored.map(({ payload }) => payload.thread)).toEqual([thread]);
  }
});
