import { AppError, branchIdOf, steerItemIdOf, threadIdOf, turnIdsOf } from '@rookery/protocol';
import type { SimulatedClient } from './client.ts';
import type { World } from './world.ts';

const PROVIDER = 'simulated';
const SPAN_MS = 14_000;
const PATIENT = 12;

/** What a person was told about a cancellation. */
export interface Cancellation {
  runId: string;
  accepted: boolean;
  /** Status of the run in the answer. */
  status: string;
}

/** A thread that was asked to be another way, and what was answered. */
export interface Workload {
  cancellations: Cancellation[];
  /** Runs of which a cancellation was asked, whatever came of it. */
  cancelAsked: Set<string>;
}

/** Draws what people ask for: threads, turns, the same request again, other words under the same name, and so on. */
export function startWorkload(world: World, client: SimulatedClient): Workload {
  const { random } = world.engine;
  const workload: Workload = { cancellations: [], cancelAsked: new Set() };
  const threads = random.integer(1, 3);
  for (let index = 1; index <= threads; index += 1) startThread(world, client, workload, index);
  return workload;
}

function startThread(world: World, client: SimulatedClient, workload: Workload, index: number): void {
  const { random } = world.engine;
  const { homeId } = world.server;
  const clientRequestId = `thread-${index}`;
  const threadId = threadIdOf(homeId, clientRequestId);
  const branchId = branchIdOf(homeId, threadId);
  const create = (attempts: number) =>
    client.ask({
      method: 'thread.create',
      params: { title: `Thread ${index}`, clientRequestId },
      scope: 'home',
      clientRequestId,
      fact: { stream: 'JOURNAL', type: 'thread.created', where: { 'thread.id': threadId } },
      attempts,
    });
  client.at(random.next() * 2000, 'creates', () => create(PATIENT));
  if (random.next() < 0.3) client.at(random.next() * 4000, 'creates again', () => create(3));

  const turns = random.integer(1, 4);
  for (let turn = 1; turn <= turns; turn += 1) {
    const at = 1000 + random.next() * SPAN_MS;
    startTurn(world, client, workload, { threadId, branchId, name: `${index}-${turn}`, at });
  }
  const change = (method: string, more: object = {}) =>
    client.ask({
      method,
      params: { threadId, ...more },
      scope: threadId,
      clientRequestId: null,
      fact: null,
      attempts: random.integer(1, 4),
    });
  if (random.next() < 0.4)
    client.at(random.next() * SPAN_MS, 'renames', () => change('thread.rename', { title: 'New' }));
  const archives = random.next() < 0.5 ? random.integer(1, 3) : 0;
  for (let count = 0; count < archives; count += 1) {
    client.at(4000 + random.next() * SPAN_MS * 1.5, 'archives', () => change('thread.archive'));
    if (random.next() < 0.6)
      client.at(4000 + random.next() * SPAN_MS * 1.5, 'unarchives', () => change('thread.unarchive'));
  }
}

function startTurn(
  world: World,
  client: SimulatedClient,
  workload: Workload,
  about: { threadId: string; branchId: string; name: string; at: number },
): void {
  const { random } = world.engine;
  const { threadId, branchId, name, at } = about;
  const clientRequestId = `turn-${name}`;
  const { runId } = turnIdsOf(world.server.homeId, threadId, clientRequestId);
  const submit = (content: string, attempts: number) =>
    client.ask({
      method: 'turn.start',
      params: { threadId, branchId, content, providerId: PROVIDER, modelId: `model-${name}`, clientRequestId },
      scope: threadId,
      clientRequestId,
      fact: {
        stream: 'JOURNAL',
        type: 'item.completed',
        where: { 'run.id': runId, 'item.content': content },
      },
      attempts,
    });
  client.at(at, 'submits', () => submit(`turn-${name}`, random.next() < 0.8 ? PATIENT : 1));
  if (random.next() < 0.3) client.at(at + random.next() * 300, 'submits again', () => submit(`turn-${name}`, 3));
  if (random.next() < 0.1) client.at(at + random.next() * 50, 'submits other words', () => submit(`other-${name}`, 2));

  const steers = random.next() < 0.5 ? random.integer(1, 3) : 0;
  for (let steer = 1; steer <= steers; steer += 1) {
    const request = `steer-${name}-${steer}`;
    const itemId = steerItemIdOf(world.server.homeId, runId, request);
    const say = (attempts: number) =>
      client.ask({
        method: 'run.steer',
        params: { runId, expectedRunId: runId, content: request, clientRequestId: request },
        scope: runId,
        clientRequestId: request,
        fact: { stream: 'JOURNAL', type: 'run.steered', where: { 'item.id': itemId } },
        attempts,
      });
    const when = at + 100 + random.next() * 6000;
    client.at(when, 'steers', () => say(PATIENT));
    if (random.next() < 0.2) client.at(when + random.next() * 500, 'steers again', () => say(3));
  }
  const cancels = random.next() < 0.3 ? random.integer(1, 2) : 0;
  for (let count = 0; count < cancels; count += 1) {
    client.at(at + random.next() * 8000, 'cancels', async () => {
      workload.cancelAsked.add(runId);
      const answer = await client.ask({
        method: 'run.cancel',
        params: { runId },
        scope: runId,
        clientRequestId: null,
        fact: null,
        attempts: random.integer(1, PATIENT),
      });
      if (answer instanceof AppError) return;
      const { accepted, status } = answer.result as { accepted: boolean; status: string };
      workload.cancellations.push({ runId, accepted, status });
    });
  }
}
