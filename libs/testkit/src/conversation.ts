import type { Item, WireEvent } from '@rookery/protocol';
import { eventually } from './eventually.ts';
import type { Fact } from './history/recorder.ts';
import { TEST_MODEL } from './rookery.ts';
import type { RpcClient } from './rpc-client.ts';

/** What the tests of conversations ask of a client again and again. */

export interface TestThread {
  threadId: string;
  branchId: string;
}

export interface TestTurn extends TestThread {
  turnId: string;
  runId: string;
}

type Asker = Pick<RpcClient, 'request'>;

/** Makes a thread; `cwd` is an existing folder, without it the thread gets a managed one. */
export async function createThread(
  client: Asker,
  options: { clientRequestId?: string; cwd?: string } = {},
): Promise<TestThread> {
  const { thread } = await client.request<{ thread: { id: string; defaultBranchId: string } }>('thread.create', {
    title: null,
    workspace: options.cwd === undefined ? null : { rootUri: options.cwd },
    ...(options.clientRequestId === undefined ? {} : { clientRequestId: options.clientRequestId }),
  });
  return { threadId: thread.id, branchId: thread.defaultBranchId };
}

/** Starts a turn on the test model. */
export async function startTurn(
  client: Asker,
  thread: TestThread,
  content: string,
  clientRequestId?: string,
): Promise<TestTurn> {
  const { threadId, branchId } = thread;
  const started = await client.request<{ turnId: string; runId: string }>('turn.start', {
    threadId,
    branchId,
    content,
    ...TEST_MODEL,
    ...(clientRequestId === undefined ? {} : { clientRequestId }),
  });
  return { threadId, branchId, turnId: started.turnId, runId: started.runId };
}

/** The fact that a turn was submitted, for the checker. */
export function submissionFact(clientRequestId: string): Fact {
  return { stream: 'JOURNAL', type: 'item.completed', where: { clientRequestId } };
}

export interface Settled {
  status: string;
  reasonCode: string | null;
}

/** How a run ended, as far as the events tell; null while they do not. */
export function settledOf(events: readonly WireEvent[], runId: string): Settled | null {
  const event = events.find(({ type, runId: id }) => type === 'run.settled' && id === runId);
  if (event === undefined) return null;
  return { status: String(event.payload.status), reasonCode: (event.payload.reasonCode as string | undefined) ?? null };
}

export function waitSettled(events: readonly WireEvent[], runId: string, timeoutMs = 30_000): Promise<Settled> {
  return eventually(`the end of ${runId}`, () => settledOf(events, runId), { timeoutMs });
}

/** Waits for an event of a run. */
export function waitEvent(
  events: readonly WireEvent[],
  runId: string,
  type: string,
  matches: (event: WireEvent) => boolean = () => true,
  timeoutMs = 30_000,
): Promise<WireEvent> {
  const find = () => events.find((event) => event.runId === runId && event.type === type && matches(event));
  return eventually(`${type} of ${runId}`, find, { timeoutMs });
}

/** The item of an event that has one. */
export function itemOfEvent(event: WireEvent): Item | undefined {
  return event.payload.item as Item | undefined;
}

/** Text that the assistant wrote in a run: completed messages, and what was streamed of one that was cut off. */
export function answerOf(events: readonly WireEvent[], runId: string): string {
  return events
    .filter((event) => event.runId === runId && event.type === 'item.completed')
    .map(itemOfEvent)
    .filter((item) => item?.kind === 'message' && item.role === 'assistant')
    .map((item) => String(item?.content))
    .join('');
}
