import type { Operation, Violation } from '@rookery/testkit';
import type { ViewCommit, ViewRun } from './journal-view.ts';
import type { SimulatedModel } from './model.ts';
import type { SimulatedRunner } from './runner.ts';
import type { Workload } from './workload.ts';
import type { World } from './world.ts';

interface Happened {
  model: SimulatedModel;
  runner: SimulatedRunner;
  workload: Workload;
  operations: readonly Operation[];
}

interface ItemPayload {
  id: string;
  kind: string;
  role: string;
  status: string;
  content: string;
  data: Record<string, unknown>;
}

/** What the checker of histories cannot know: what the model said, what tools did, what people were told. */
export function checkSimulation(world: World, happened: Happened): Violation[] {
  return [
    ...checkFence(world),
    ...checkTexts(world, happened.model),
    ...checkSteers(world, happened.model),
    ...checkRefusedSteers(world, happened.operations),
    ...checkCancels(world, happened.workload),
    ...checkInterruptions(world),
    ...checkArchives(world),
    ...checkEffects(world, happened.runner),
  ];
}

const runCommits = (world: World, { runId }: ViewRun): ViewCommit[] =>
  world.journal.commits.filter(({ subject }) => subject.endsWith(`.run.${runId}`));

/** Only the holder writes a run, but for the commit that settles it; and a holder does not settle it over its own head. */
function checkFence(world: World): Violation[] {
  const out: Violation[] = [];
  for (const run of world.journal.runs.values()) {
    for (const { by, id, events, streamSeq } of runCommits(world, run)) {
      if (run.holder === null) continue;
      if (by === `agent/${run.holder}`) {
        if (!id.includes('/run-')) out.push({ rule: 'fence', detail: `${run.runId} at ${streamSeq} by ${id}` });
        continue;
      }
      if (events.some(({ type }) => type === 'run.settled')) continue;
      out.push({ rule: 'fence', detail: `${run.runId} of ${run.holder} is written by ${by} at ${streamSeq}` });
    }
  }
  return out;
}

/** A message holds what one model call has said, from its beginning; all of it where the message is complete. */
function checkTexts(world: World, model: SimulatedModel): Violation[] {
  const out: Violation[] = [];
  const used = new Set<number>();
  for (const run of world.journal.runs.values()) {
    for (const { events, streamSeq } of runCommits(world, run)) {
      for (const { type, payload } of events) {
        const item = payload.item as ItemPayload | undefined;
        if (type !== 'item.completed' || item?.kind !== 'message' || item.role !== 'assistant') continue;
        const call = model.calls[Number(/^c(\d+)\./.exec(item.content)?.[1]) - 1];
        const add = (detail: string) => out.push({ rule: 'text', detail: `${item.id} at ${streamSeq} ${detail}` });
        if (call === undefined || call.modelId !== run.modelId) add('is not what its model said');
        else if (used.has(call.call)) add('repeats what another message says');
        else if (item.status === 'completed' ? call.said !== item.content : !call.said.startsWith(item.content))
          add(`says ${JSON.stringify(item.content)}, the model said ${JSON.stringify(call.said)}`);
        if (call !== undefined) used.add(call.call);
      }
    }
  }
  return out;
}

/** A steer is shown to the model of its run, or becomes one turn; never both, never neither. */
function checkSteers(world: World, model: SimulatedModel): Violation[] {
  const out: Violation[] = [];
  const { journal } = world;
  for (const run of journal.runs.values()) {
    const received = new Map<string, string>();
    const processed = new Set<string>();
    for (const { events } of runCommits(world, run)) {
      for (const { type, payload } of events) {
        const item = payload.item as ItemPayload | undefined;
        if (type === 'run.steered' && item !== undefined) {
          if (received.has(item.id)) out.push({ rule: 'steer-once', detail: `${item.id} was received twice` });
          received.set(item.id, item.content);
        } else if (type === 'item.completed' && item?.data.steer === true && item.data.status === 'processed') {
          if (processed.has(item.id)) out.push({ rule: 'steer-once', detail: `${item.id} was processed twice` });
          processed.add(item.id);
        }
      }
    }
    for (const [itemId, content] of received) {
      const left = journal.left.filter((steer) => steer.itemId === itemId);
      const add = (detail: string) => out.push({ rule: 'steer-once', detail: `${itemId} ${content} ${detail}` });
      if ((processed.has(itemId) ? 1 : 0) + left.length !== 1) {
        add(`was ${processed.has(itemId) ? '' : 'not '}processed and ${left.length} times left`);
      }
      const shown = model.calls.some(
        (call) => call.modelId === run.modelId && call.shown.includes(content) && call.shown.at(0) !== undefined,
      );
      if (shown && left.length > 0 && !followUps(world, run, itemId).some(({ holder }) => holder !== null))
        add('was shown to the model and is left');
    }
  }
  for (const { runId, itemId, threadId, content } of journal.left) {
    const run = journal.runs.get(runId);
    if (run === undefined) continue;
    const turns = followUps(world, run, itemId);
    if (turns.length > 1 || (turns.length === 0 && journal.archived.get(threadId) !== true))
      out.push({ rule: 'follow-up', detail: `${itemId} became ${turns.length} turns` });
    const sameWords = [...journal.runs.values()].filter(
      (each) => each.threadId === threadId && each.content === content,
    );
    if (sameWords.length > 1)
      out.push({ rule: 'follow-up', detail: `${String(content)} is ${sameWords.length} turns` });
  }
  return out;
}

/** Who is told that a run has ended sends the words again as a turn: so they may not stand in the run. */
function checkRefusedSteers({ journal }: World, operations: readonly Operation[]): Violation[] {
  const stored = new Set<unknown>();
  for (const { events } of journal.commits)
    for (const { type, itemId } of events) if (type === 'run.steered') stored.add(itemId);
  return operations
    .filter(({ error, fact }) => error === 'RUN_SETTLED' && stored.has(fact.where['item.id']))
    .map(({ fact }) => ({ rule: 'steer-refused', detail: `${fact.where['item.id']} was refused and is there` }));
}

const followUps = (world: World, { runId }: ViewRun, itemId: string): ViewRun[] =>
  [...world.journal.runs.values()].filter(({ clientRequestId }) => clientRequestId === `steer:${runId}:${itemId}`);

/** Nobody is cancelled without a wish; a cancellation that was accepted while it ran is not followed by a good end. */
function checkCancels(world: World, workload: Workload): Violation[] {
  const out: Violation[] = [];
  for (const { runId, status } of world.journal.runs.values()) {
    if (status === 'cancelled' && !workload.cancelAsked.has(runId))
      out.push({ rule: 'cancel', detail: `${runId} was cancelled and nobody asked` });
  }
  for (const { runId, accepted, status } of workload.cancellations) {
    const end = world.journal.runs.get(runId)?.status;
    if (!accepted) {
      if (status !== end) out.push({ rule: 'cancel', detail: `${runId} was told to be ${status} and is ${end}` });
    } else if (end === 'completed' || (status === 'cancelled' && end !== 'cancelled')) {
      out.push({ rule: 'cancel', detail: `${runId} was cancelled (${status}) and is ${end}` });
    }
  }
  return out;
}

/** Where nothing befell any process or its connection, no run is settled for a holder that is thought dead. */
function checkInterruptions({ journal, weather }: World): Violation[] {
  const { kills, stops, cuts, shutdowns, serverRestarts, loseRequest, late } = weather;
  if (kills + stops + cuts + shutdowns + serverRestarts + loseRequest + late > 0) return [];
  return [...journal.runs.values()]
    .filter(({ reasonCode }) => reasonCode === 'runtime_interrupted')
    .map(({ runId, holder }) => ({ rule: 'interrupted', detail: `${runId} of ${holder}, which lives` }));
}

/** An archived thread takes no turn, and none is archived with a turn that has not ended. */
function checkArchives(world: World): Violation[] {
  const out: Violation[] = [];
  const archived = new Map<string, boolean>();
  const open = new Map<string, Set<string>>();
  for (const { subject, events, streamSeq, runId = '' } of world.journal.commits) {
    const [, , , threadId = '', kind] = subject.split('.');
    const turns = open.get(threadId) ?? new Set<string>();
    open.set(threadId, turns);
    for (const { type, payload } of events) {
      const add = (detail: string) => out.push({ rule: 'archive', detail: `${threadId} at ${streamSeq} ${detail}` });
      if (type === 'thread.archived') {
        if (archived.get(threadId) === true) add('is archived again');
        if (turns.size > 0) add(`is archived while ${[...turns].join(', ')} is open`);
        archived.set(threadId, true);
      } else if (type === 'thread.unarchived') archived.set(threadId, false);
      else if (kind === 'turns' && type === 'item.completed' && payload.run !== undefined) {
        if (archived.get(threadId) === true) add('takes a turn while it is archived');
        turns.add(runId);
      } else if (type === 'run.settled') turns.delete(runId);
    }
  }
  return out;
}

/** A tool acts only after its call was announced, and its result is the runner's. */
function checkEffects(world: World, runner: SimulatedRunner): Violation[] {
  return runner.effects
    .filter(({ itemId, lastSeq }) => (world.journal.announced.get(itemId) ?? Number.POSITIVE_INFINITY) > lastSeq)
    .map(({ itemId }) => ({ rule: 'intent-first', detail: `${itemId} had its effect before it was announced` }));
}
