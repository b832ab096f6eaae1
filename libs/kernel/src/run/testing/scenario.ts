import type { CommitEvent, ContextRevision, Item, StoredCommit } from '@rookery/protocol';
import fc from 'fast-check';
import type { Draft } from '../../draft.ts';
import { type LoopContext, type LoopEffect, type LoopInput, type LoopState, newLoop, step } from '../loop.ts';

/** Runs the loop over any sequence of inputs, as a shell that stores every step's events as one commit. */

export const context: LoopContext = {
  homeId: '0123456789abcdef0123456789abcdef',
  threadId: 'thread_1',
  turnId: 'turn_1',
  runId: 'run_1',
  providerId: 'scripted',
  modelId: 'scripted-v1',
  readers: new Set(['read', 'grep']),
  knownTools: new Set(['read', 'grep', 'write']),
};

export const revision: ContextRevision = {
  revision: 1,
  historyGroups: [],
  historyItems: [],
  memory: [],
  budget: { totalTokens: 1000 },
  omissions: [],
  historyStatus: null,
  memoryContextCharacters: 0,
  compactionSummary: null,
  currentRunOmittedThroughItemId: null,
};

export const start: Extract<LoopInput, { type: 'start' }> = {
  type: 'start',
  holder: 'host-0-boot',
  epoch: 1,
  contextRevision: revision,
  historyMessages: 1,
  throughItemId: 'item_user',
};

export const finished: LoopInput = {
  type: 'model_finished',
  responseModelId: 'scripted-v1',
  requestId: null,
  usage: { inputTokens: 1, cachedInputTokens: null, outputTokens: 1, reasoningOutputTokens: null, totalTokens: 2 },
  activityDate: '2026-01-01',
};

/** A property plays a hundred scenes, which takes a second on an idle machine. */
export const PATIENCE_MS = 30_000;

/** An input, or the end of the tool call that runs at a place of the list of those that run. */
export type Action = LoopInput | { type: 'tool_ends'; place: number; outcome: 'ok' | 'failed' | 'cancelled' };

export interface Scene {
  state: LoopState;
  /** Events of each step that had some. */
  commits: Draft[][];
  effects: LoopEffect[];
  /** The calls that ran, in the order in which they began, and when each of them ended. */
  trace: { item: Item; writes: boolean; began: number; ended: number | null }[];
  /** What was shown to the model by each call. */
  transcripts: Item[][];
}

/** ISO time n milliseconds after the start of a scene. */
export const timeAt = (n: number): string => new Date(Date.UTC(2026, 0, 1) + n).toISOString();

/** Plays actions from an unclaimed run; an action that means nothing there is still given to the loop. */
export function play(actions: readonly Action[]): Scene {
  const scene: Scene = { state: newLoop, commits: [], effects: [], trace: [], transcripts: [] };
  actions.forEach((action, tick) => {
    const input = toInput(scene, action, tick);
    const result = step(scene.state, input, context, timeAt(tick));
    scene.state = result.state;
    if (result.events.length > 0) scene.commits.push(result.events);
    for (const effect of result.effects) {
      scene.effects.push(effect);
      if (effect.type === 'call_model') scene.transcripts.push(effect.transcript);
      if (effect.type !== 'invoke_tool') continue;
      scene.trace.push({ item: effect.item, writes: effect.call.writes, began: tick, ended: null });
    }
  });
  return scene;
}

function toInput(scene: Scene, action: Action, tick: number): LoopInput {
  if (action.type !== 'tool_ends') return action;
  const running = scene.trace.filter((entry) => entry.ended === null);
  const entry = running[action.place % Math.max(1, running.length)];
  if (entry !== undefined) entry.ended = tick;
  const { callId, toolName } = entry?.item.data ?? {};
  const ok = action.outcome === 'ok';
  const result = {
    toolCallId: String(callId),
    toolName: String(toolName),
    ok,
    output: 'done',
    cancelled: action.outcome === 'cancelled',
  };
  return { type: 'tool_finished', itemId: entry?.item.id ?? 'item_of_nobody', result };
}

/** Commits as the journal gives them back. */
export function stored(commits: readonly Draft[][]): StoredCommit[] {
  return commits.map((events, index) => ({
    streamSeq: index + 1,
    subject: 'journal.home.thread.thread_1.run.run_1',
    commit: {
      v: 1,
      id: `c-${index}`,
      cause: 'c',
      at: timeAt(index),
      by: 'agent/host-0-boot',
      agentId: 'main',
      events: JSON.parse(JSON.stringify(events)) as CommitEvent[],
    },
  }));
}

const words = fc.oneof(
  { weight: 16, arbitrary: fc.string({ maxLength: 40 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.integer({ min: 250, max: 300 }).map((length) => '🐦'.repeat(length / 2)) },
  { weight: 1, arbitrary: fc.integer({ min: 32_760, max: 70_000 }).map((length) => 'x🐦'.repeat(length / 3)) },
);

/** Ids repeat between answers, never within one: the provider's client sees to that. */
const call = fc.record({
  name: fc.constantFrom('read', 'grep', 'write', 'teleport'),
  arguments: fc.constantFrom(
    '',
    '{}',
    '{"filePath":"a"}',
    '[1]',
    'null',
    '{"broken',
    '"text"',
    '{"__proto__":{"a":1}}',
  ),
});
const calls = fc
  .array(call, { minLength: 1, maxLength: 5 })
  .map((list): Action[] => list.map((one, index) => ({ type: 'tool_call', callId: `call_${index}`, ...one })));

const text = words.map((value): Action => ({ type: 'text', text: value }));
const toolEnds = fc.record({
  type: fc.constant('tool_ends' as const),
  place: fc.nat({ max: 4 }),
  outcome: fc.constantFrom('ok' as const, 'failed' as const, 'cancelled' as const),
});
const steer = fc.record({
  type: fc.constant('steer' as const),
  clientRequestId: fc.constantFrom('s1', 's2', 's3', 's4'),
  content: fc.string({ minLength: 1, maxLength: 20 }),
});
const failed: Action = { type: 'model_failed', reasonCode: 'provider_timeout', requestId: null };

const one = (arbitrary: fc.Arbitrary<Action>): fc.Arbitrary<Action[]> => arbitrary.map((action) => [action]);
const body = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: one(text) },
      { weight: 1, arbitrary: one(words.map((value): Action => ({ type: 'reasoning', text: value }))) },
      // A whole answer at once, so that scenes get far.
      {
        weight: 5,
        arbitrary: fc.tuple(calls, fc.boolean()).map(([list, ends]) => (ends ? [...list, finished] : list)),
      },
      { weight: 3, arbitrary: fc.constant([finished]) },
      { weight: 8, arbitrary: one(toolEnds) },
      { weight: 3, arbitrary: one(steer) },
      { weight: 1, arbitrary: fc.constant<Action[]>([{ type: 'flush' }]) },
      {
        weight: 1,
        arbitrary: fc.constantFrom<Action[]>([failed], [{ type: 'cancel' }], [{ type: 'interrupt' }], [start]),
      },
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.flat());

/** A claimed run with anything that may happen to it, which may or may not have settled it. */
export const anyScene: fc.Arbitrary<Action[]> = body.map((actions) => [start, ...uniqueCallIds(actions)]);

/** The same, ended by a person where nothing else ended it. */
export const settledScene: fc.Arbitrary<Action[]> = anyScene.map((actions) => [...actions, { type: 'cancel' }]);

/** Two answers of a model joined without an end between them must not hold an id twice. */
function uniqueCallIds(actions: readonly Action[]): Action[] {
  let next = 0;
  return actions.map((action) => {
    if (action.type === 'model_finished') next = 0;
    return action.type === 'tool_call' ? { ...action, callId: `call_${next++}` } : action;
  });
}
