import { createHash } from 'node:crypto';
import { type ModelStep, pieces } from './scripted-model-steps.ts';

/**
 * Directives let a test that runs many threads say in the user message itself what the model shall do, so that one
 * scripted model serves them all:
 *
 *   Anything, then #script {"tools":[{"name":"list","arguments":{"path":"."}}],"text":"done","deltas":20,"delayMs":50}
 *
 * | key            | meaning                                                                                       |
 * | -------------- | --------------------------------------------------------------------------------------------- |
 * | `text`         | the final answer; default `ok`                                                                |
 * | `deltas`       | pieces in which it is streamed; default 1                                                     |
 * | `delayMs`      | wait before each piece, also of `reasoning`                                                   |
 * | `firstDelayMs` | wait before the answer's headers, in every request of the turn                                |
 * | `reasoning`    | reasoning before the first thing said in the turn                                             |
 * | `say`          | text before the tool calls of each round                                                      |
 * | `tools`        | calls of one round, `[{"name","arguments"}]`: made first, all in one answer                   |
 * | `rounds`       | several rounds, a list of such lists: each waits for the results of the one before            |
 * | `form`         | dialect of the calls: standard, no-index, whole                                               |
 * | `fail`         | the request of this number in the turn (0, 1, …) fails: {"at":0,"status":500,"retryAfter":"1"} or |
 * |                | {"at":1,"cutAfter":3} (drops the connection after 3 pieces) or {"at":0,"hang":"headers"}      |
 * | `usage`        | {"prompt","completion","cached","reasoning"}, reported with every answer                      |
 *
 * In an argument, `"$result"` becomes the `processId` of the newest tool result of the turn that has one, so that
 * process_wait can follow process_start. A turn begins after the newest assistant message without tool calls; its newest
 * user message with a directive counts, so a steer without one changes nothing. Rounds are counted from that message on.
 * Without a directive the answer is `ok`.
 */
export interface Directive {
  text?: string;
  deltas?: number;
  delayMs?: number;
  firstDelayMs?: number;
  reasoning?: string;
  say?: string;
  tools?: DirectiveCall[];
  rounds?: DirectiveCall[][];
  form?: 'standard' | 'no-index' | 'whole';
  fail?: { at: number; status?: number; retryAfter?: string; cutAfter?: number; hang?: 'headers' | 'stream' };
  usage?: { prompt: number; completion: number; cached?: number; reasoning?: number };
}

export interface DirectiveCall {
  name: string;
  arguments: unknown;
}

/** A message as an OpenAI-compatible server gets it. */
export interface ModelMessage {
  role: string;
  content?: unknown;
  tool_calls?: unknown[];
  tool_call_id?: string;
}

/** Text of a message whose content is a string or a list of parts. */
export function messageText(message: ModelMessage): string {
  if (typeof message.content === 'string') return message.content;
  if (!Array.isArray(message.content)) return '';
  return message.content.map((part: { text?: unknown }) => (typeof part.text === 'string' ? part.text : '')).join('');
}

/** The messages of the turn under way: those after the newest assistant message without tool calls. */
export function currentTurn(messages: ModelMessage[]): ModelMessage[] {
  const ended = messages.findLastIndex(({ role, tool_calls: calls }) => role === 'assistant' && !calls?.length);
  return messages.slice(ended + 1);
}

/** The directive of a text; undefined where it has none, throws where its JSON is wrong. */
export function readDirective(text: string): Directive | undefined {
  const at = text.lastIndexOf('#script ');
  if (at < 0) return undefined;
  const json = text.slice(at + '#script '.length);
  return JSON.parse(json.slice(0, objectEnd(json))) as Directive;
}

/** Steps that answer a request by the directive of its turn. */
export function directiveSteps(messages: ModelMessage[]): ModelStep[] {
  const turn = currentTurn(messages);
  const from = turn.findLastIndex((message) => message.role === 'user' && messageText(message).includes('#script '));
  const asking = turn[from];
  if (!asking) return [{ text: 'ok' }];
  const directive = readDirective(messageText(asking)) ?? {};
  const since = turn.slice(from + 1);
  const rounds = directive.rounds ?? (directive.tools ? [directive.tools] : []);
  const round = since.filter((message) => message.role === 'assistant' && message.tool_calls?.length).length;
  const seed = `${messages.length - since.length}/${messageText(asking)}`;
  return withFailure(directive, round, answerSteps(directive, rounds, round, since, seed));
}

function answerSteps(
  directive: Directive,
  rounds: DirectiveCall[][],
  round: number,
  turn: ModelMessage[],
  seed: string,
): ModelStep[] {
  const steps: ModelStep[] = [];
  const pace = directive.delayMs === undefined ? {} : { delayMs: directive.delayMs };
  if (directive.firstDelayMs) steps.push({ waitMs: directive.firstDelayMs });
  if (directive.reasoning && round === 0) steps.push({ reasoning: directive.reasoning, ...pace });
  const calls = rounds[round];
  if (calls) {
    if (directive.say) steps.push({ text: directive.say, ...pace });
    for (const [n, call] of calls.entries()) {
      steps.push({
        tool: call.name,
        arguments: fillIn(call.arguments, turn),
        id: callId(seed, round, n),
        ...(directive.form ? { form: directive.form } : {}),
      });
    }
  } else {
    const { deltas } = directive;
    steps.push({ text: directive.text ?? 'ok', ...(deltas === undefined ? {} : { deltas }), ...pace });
  }
  if (directive.usage) steps.push({ usage: directive.usage });
  return steps;
}

/** A retry of the failed request meets the same failure: the server knows a turn only by its messages. */
function withFailure({ fail }: Directive, round: number, steps: ModelStep[]): ModelStep[] {
  if (fail?.at !== round) return steps;
  if (fail.hang) return [{ hang: fail.hang }];
  if (fail.status) {
    const headers = fail.retryAfter === undefined ? {} : { headers: { 'retry-after': fail.retryAfter } };
    return [{ status: fail.status, ...headers }];
  }
  const cut: ModelStep[] = [];
  let left = fail.cutAfter ?? 0;
  for (const step of steps) {
    if (!('text' in step)) {
      cut.push(step);
      continue;
    }
    const kept = pieces(step.text, step).slice(0, left);
    left -= kept.length;
    if (kept.length > 0) cut.push({ ...step, text: kept.join(''), deltas: kept.length });
  }
  return [...cut, { cut: true }];
}

/** The same request gives the same ids, also to another process. */
function callId(seed: string, round: number, n: number): string {
  return `call_${createHash('sha256').update(`${seed}/${round}/${n}`).digest('hex').slice(0, 24)}`;
}

function fillIn(value: unknown, turn: ModelMessage[]): unknown {
  if (value === '$result') return newestProcessId(turn);
  if (Array.isArray(value)) return value.map((entry) => fillIn(entry, turn));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, fillIn(entry, turn)]));
}

function newestProcessId(turn: ModelMessage[]): string | undefined {
  const ids = turn.filter(({ role }) => role === 'tool').map((m) => /"processId":"([^"]+)"/.exec(messageText(m))?.[1]);
  return ids.findLast((id) => id !== undefined);
}

/** Index after the object that a text begins with. */
function objectEnd(text: string): number {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (inString) {
      if (char === '\\') at++;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === '{') depth++;
    else if (char === '}' && --depth === 0) return at + 1;
  }
  return text.length;
}
