import {
  type BlobRef,
  type ContextRevision,
  type Item,
  limits,
  runItemIdOf,
  sha256Hex,
  steerItemIdOf,
  type ToolResult,
  type Usage,
} from '@rookery/protocol';
import { type Draft, draft } from '../draft.ts';
import { itemTokens } from './context.ts';
import { nextTools, type PlannedCall, parseCall } from './gate.ts';
import { type SettleContext, settleRun } from './settle.ts';
import { evolveRun, type RunState, unclaimedRun } from './state.ts';

/**
 * The agent loop as a pure step function: inputs in, events and effects out. The shell appends the events first and
 * performs the effects only once they are stored.
 */

export type LoopInput =
  | {
      type: 'start';
      holder: string;
      epoch: number;
      contextRevision: ContextRevision;
      historyMessages: number;
      throughItemId: string;
    }
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  | { type: 'tool_call'; callId: string; name: string; arguments: string }
  | {
      type: 'model_finished';
      responseModelId: string | null;
      requestId: string | null;
      usage: Usage | null;
      activityDate: string | null;
    }
  | { type: 'model_failed'; reasonCode: string; requestId: string | null }
  | { type: 'tool_finished'; itemId: string; result: ToolResult }
  | { type: 'steer'; clientRequestId: string; content: string | BlobRef }
  | { type: 'flush' }
  | { type: 'cancel' }
  | { type: 'interrupt' };

export type LoopEffect =
  /** Ask the model; `transcript` holds this run's settled items so far. */
  | { type: 'call_model'; stepOrdinal: number; transcript: Item[] }
  | { type: 'invoke_tool'; item: Item; stepOrdinal: number; call: PlannedCall }
  /** Text is waiting that is to be written within `limits.deltaMs`. */
  | { type: 'schedule_flush' }
  | { type: 'stop_work' }
  | { type: 'settled' };

export interface LoopContext {
  homeId: string;
  threadId: string;
  turnId: string;
  runId: string;
  providerId: string;
  modelId: string;
  /** Tools that only read and so may run together. */
  readers: ReadonlySet<string>;
  knownTools: ReadonlySet<string>;
}

export interface LoopState {
  run: RunState;
  /** Text that was received and is not in an event yet. */
  buffer: string;
  reasoning: string;
  /** Calls of the current step in the model's order. */
  calls: PlannedCall[];
  running: ReadonlySet<string>;
  contextRevision: ContextRevision | null;
  historyMessages: number;
  throughItemId: string;
  flushScheduled: boolean;
}

export interface StepResult {
  state: LoopState;
  events: Draft[];
  effects: LoopEffect[];
}

export const newLoop: LoopState = {
  run: unclaimedRun,
  buffer: '',
  reasoning: '',
  calls: [],
  running: new Set(),
  contextRevision: null,
  historyMessages: 0,
  throughItemId: '',
  flushScheduled: false,
};

/** Collects events, evolving the state by each, so that later decisions of the same step see them. */
class Step {
  state: LoopState;
  readonly events: Draft[] = [];
  readonly effects: LoopEffect[] = [];
  readonly context: LoopContext;
  readonly now: string;

  constructor(state: LoopState, context: LoopContext, now: string) {
    this.state = state;
    this.context = context;
    this.now = now;
  }

  emit(...events: Draft[]): void {
    let run = this.state.run;
    for (const event of events) run = evolveRun(run, event as Parameters<typeof evolveRun>[1]);
    this.events.push(...events);
    this.state = { ...this.state, run };
  }

  set(change: Partial<LoopState>): void {
    this.state = { ...this.state, ...change };
  }

  settleContext(): SettleContext {
    return { ...this.context, now: this.now };
  }

  item(fields: Pick<Item, 'kind' | 'role' | 'status' | 'content' | 'data'> & { id?: string }): Item {
    const ordinal = this.state.run.lastOrdinal + 1;
    const { homeId, turnId, runId } = this.context;
    return {
      id: runItemIdOf(homeId, runId, ordinal),
      turnId,
      runId,
      ordinal,
      createdAt: this.now,
      updatedAt: this.now,
      ...fields,
    };
  }

  result(): StepResult {
    return { state: this.state, events: this.events, effects: this.effects };
  }
}

/** Upper bound of a call's input: what was chosen at the start and the run's own items since. */
const tokensBound = ({ contextRevision, run }: LoopState): number => {
  const chosen = contextRevision?.budget.totalTokens;
  return run.settledItems.reduce((sum, item) => sum + itemTokens(item), typeof chosen === 'number' ? chosen : 0);
};

const stepId = (runId: string, stepOrdinal: number): string =>
  `step_${sha256Hex(`${runId}/${stepOrdinal}`).slice(0, 32)}`;

/** The next call to the model: steers that nobody has seen become user messages of it. */
function prepareCall(step: Step): void {
  for (const { item } of step.state.run.steers.filter((steer) => !steer.seen)) {
    const data = { ...item.data, status: 'processed' };
    step.emit(draft('item.completed', { item: { ...item, status: 'completed', data, updatedAt: step.now } }, item.id));
  }
  const { run, contextRevision, historyMessages } = step.state;
  const stepOrdinal = run.stepOrdinal + 1;
  const throughItemId = run.settledItems.at(-1)?.id ?? step.state.throughItemId;
  step.emit(
    draft('model.input_prepared', {
      stepOrdinal,
      preparedAt: step.now,
      contextRevision: stepOrdinal === 1 ? contextRevision : null,
      stepInput: {
        stepOrdinal,
        contextRevision: contextRevision?.revision ?? 1,
        messages: Math.max(1, historyMessages + run.settledItems.length + 1),
        throughItemId,
        inputTokensBound: tokensBound(step.state),
      },
    }),
  );
  step.set({ calls: [], buffer: '', reasoning: '' });
  step.effects.push({ type: 'call_model', stepOrdinal, transcript: step.state.run.settledItems });
}

/** Characters of one delta at the most: a delta is never moved out of the journal. */
export const MAX_DELTA_CHARS = 32_768;

/** Cuts a text into deltas, never inside a surrogate pair. */
function pieces(text: string): string[] {
  const out: string[] = [];
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + MAX_DELTA_CHARS);
    const code = text.charCodeAt(end - 1);
    if (end < text.length && code >= 0xd800 && code <= 0xdbff) end -= 1;
    out.push(text.slice(at, end));
    at = end;
  }
  return out;
}

/** Writes the text that is waiting, opening the assistant's message where it is not open yet. */
function flush(step: Step): void {
  if (step.state.buffer === '') return;
  const text = step.state.buffer;
  if (step.state.run.streaming === null) {
    const data = { stepId: stepId(step.context.runId, step.state.run.stepOrdinal) };
    const item = step.item({ kind: 'message', role: 'assistant', status: 'streaming', content: '', data });
    step.emit(draft('item.started', { item }, item.id));
  }
  const target = step.state.run.streaming?.item.id;
  if (target !== undefined) for (const delta of pieces(text)) step.emit(draft('item.delta', { delta }, target));
  step.set({ buffer: '' });
}

function takeText(step: Step, text: string): void {
  const first = step.state.run.streaming === null && step.state.buffer === '';
  step.set({ buffer: step.state.buffer + text });
  if (first || step.state.buffer.length >= limits.deltaChars) flush(step);
  else if (!step.state.flushScheduled) {
    step.set({ flushScheduled: true });
    step.effects.push({ type: 'schedule_flush' });
  }
}

function closeMessage(step: Step): void {
  flush(step);
  const { streaming } = step.state.run;
  if (streaming === null) return;
  const data =
    step.state.reasoning === ''
      ? streaming.item.data
      : { ...streaming.item.data, reasoningContent: step.state.reasoning };
  const item: Item = { ...streaming.item, status: 'completed', content: streaming.text, data, updatedAt: step.now };
  step.emit(draft('item.completed', { item }, item.id));
}

/** Starts what the gate lets start: readers together, writers alone, in the model's order. */
function startTools(step: Step): void {
  const { calls, running } = step.state;
  const starting = nextTools(calls, running);
  if (starting.length === 0) return;
  step.set({ running: new Set([...running, ...starting.map((call) => call.itemId)]) });
  for (const call of starting) {
    const open = step.state.run.openCalls.find(({ item }) => item.id === call.itemId);
    if (open === undefined) continue;
    if (call.problem !== null) {
      const output = call.problem.text;
      const refused = {
        toolCallId: call.callId,
        toolName: call.name,
        ok: false,
        output,
        cancelled: false,
        durationMs: 0,
        truncated: false,
        errorCode: call.problem.code,
      };
      finishTool(step, call.itemId, refused);
    } else {
      step.effects.push({ type: 'invoke_tool', item: open.item, stepOrdinal: step.state.run.stepOrdinal, call });
    }
  }
}

function finishTool(step: Step, itemId: string, result: ToolResult): void {
  const open = step.state.run.openCalls.find(({ item }) => item.id === itemId);
  if (open === undefined) return;
  const status = result.cancelled ? 'cancelled' : result.ok ? 'completed' : 'failed';
  const { data } = open.item;
  step.emit(
    draft(
      'item.completed',
      { item: { ...open.item, status, data: { ...data, outcome: status }, updatedAt: step.now } },
      itemId,
    ),
  );
  const answer = step.item({
    kind: 'tool_result',
    role: 'tool',
    status,
    content: JSON.stringify(result),
    data: { stepId: data.stepId, callId: data.callId, toolCallItemId: itemId, toolName: data.toolName },
  });
  step.emit(draft('item.completed', { item: answer }, answer.id));
  const running = new Set(step.state.running);
  running.delete(itemId);
  step.set({ running, calls: step.state.calls.filter((call) => call.itemId !== itemId) });
  if (step.state.calls.length === 0) prepareCall(step);
  else startTools(step);
}

function announceCalls(step: Step): void {
  const id = stepId(step.context.runId, step.state.run.stepOrdinal);
  const calls: PlannedCall[] = [];
  for (const [index, planned] of step.state.calls.entries()) {
    const reasoning = index === 0 && step.state.reasoning !== '' ? { reasoningContent: step.state.reasoning } : {};
    const item = step.item({
      kind: 'tool_call',
      role: 'assistant',
      status: 'running',
      content: '',
      data: { stepId: id, callId: planned.callId, toolName: planned.name, arguments: planned.arguments, ...reasoning },
    });
    step.emit(draft('item.started', { item }, item.id));
    calls.push({ ...planned, itemId: item.id });
  }
  step.set({ calls, running: new Set() });
}

function finishModel(step: Step, input: Extract<LoopInput, { type: 'model_finished' }>): void {
  closeMessage(step);
  announceCalls(step);
  const { providerId, modelId } = step.context;
  const { responseModelId, requestId, usage, activityDate } = input;
  step.emit(
    draft('model.response_finished', {
      stepOrdinal: step.state.run.stepOrdinal,
      providerId,
      modelId,
      outcome: 'completed',
      reasonCode: null,
      responseModelId,
      requestId,
      usage,
      activityDate: usage === null ? null : activityDate,
      finishedAt: step.now,
    }),
  );
  if (step.state.calls.length > 0) startTools(step);
  else if (step.state.run.steers.some((steer) => !steer.seen)) prepareCall(step);
  else settle(step, { status: 'completed' });
}

function settle(step: Step, outcome: { status: 'completed' | 'failed' | 'cancelled'; reasonCode?: string }): void {
  flush(step);
  step.emit(...settleRun(step.state.run, outcome, step.settleContext()));
  step.effects.push({ type: 'stop_work' }, { type: 'settled' });
}

function takeSteer(step: Step, clientRequestId: string, content: string | BlobRef): void {
  const id = steerItemIdOf(step.context.homeId, step.context.runId, clientRequestId);
  if (step.state.run.steers.some(({ item }) => item.id === id)) return;
  const data = { steer: true, clientRequestId, status: 'received' };
  const item = step.item({ id, kind: 'message', role: 'user', status: 'streaming', content, data });
  step.emit(draft('run.steered', { content, clientRequestId, status: 'received', item }, id));
}

/** What a model says counts only while its call is open: what comes later belongs to no step. */
const saidByModel: ReadonlySet<LoopInput['type']> = new Set(['text', 'reasoning', 'tool_call', 'model_finished']);

/** One input. A run takes `start` first and once, and nothing once it is settled. `now` is the ISO time of the events. */
export function step(state: LoopState, input: LoopInput, context: LoopContext, now: string): StepResult {
  const next = new Step(state, context, now);
  if (state.run.status !== (input.type === 'start' ? 'unclaimed' : 'running')) return next.result();
  if (saidByModel.has(input.type) && !state.run.modelCallOpen) return next.result();
  switch (input.type) {
    case 'start':
      next.set({
        contextRevision: input.contextRevision,
        historyMessages: input.historyMessages,
        throughItemId: input.throughItemId,
      });
      next.emit(
        draft('run.claimed', { holder: input.holder, epoch: input.epoch }),
        draft('run.state_changed', { status: 'running' }),
      );
      prepareCall(next);
      break;
    case 'text':
      takeText(next, input.text);
      break;
    case 'reasoning':
      next.set({ reasoning: state.reasoning + input.text });
      break;
    case 'tool_call': {
      // Text before a call is written before it.
      flush(next);
      const call = parseCall(input, context);
      next.set({ calls: [...next.state.calls, call] });
      break;
    }
    case 'model_finished':
      finishModel(next, input);
      break;
    case 'model_failed':
      settle(next, { status: 'failed', reasonCode: input.reasonCode });
      break;
    case 'tool_finished':
      finishTool(next, input.itemId, input.result);
      break;
    case 'steer':
      takeSteer(next, input.clientRequestId, input.content);
      break;
    case 'flush':
      next.set({ flushScheduled: false });
      flush(next);
      break;
    case 'cancel':
      settle(next, { status: 'cancelled', reasonCode: 'cancelled' });
      break;
    case 'interrupt':
      settle(next, { status: 'failed', reasonCode: 'runtime_interrupted' });
      break;
  }
  return next.result();
}
