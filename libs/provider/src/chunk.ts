import type { Usage } from './types.ts';

/** One fragment of a tool call as a provider sends it; every field may be missing. */
export interface ToolFragment {
  index?: number;
  id?: string;
  name?: string;
  arguments?: string;
}

/** What one event of a stream says, after the differences between providers are taken out. */
export interface Chunk {
  error?: unknown;
  responseModelId?: string;
  text: string;
  reasoning: string;
  tools: ToolFragment[];
  finishReason?: string;
  usage?: Usage;
}

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const nonEmpty = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** The text where it is 1 to 200 printable ASCII characters, else undefined: what is shown of a provider's own names. */
export function printable(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\x20-\x7e]{1,200}$/.test(value) ? value : undefined;
}

/** Reads the JSON of one event; undefined where it is not a chunk of a completion. */
export function readChunk(json: unknown): Chunk | undefined {
  if (!isFields(json)) return undefined;
  const chunk: Chunk = { text: '', reasoning: '', tools: [] };
  if (json.error !== undefined && json.error !== null) return { ...chunk, error: json.error };
  const model = printable(json.model);
  if (model) chunk.responseModelId = model;
  const choice = Array.isArray(json.choices) ? json.choices.find(isFirstChoice) : undefined;
  if (!choice && !isFields(json.usage) && !Array.isArray(json.choices)) return undefined;
  // Usage stands in the last chunk, at some providers (Moonshot) inside the choice.
  const usage = readUsage(json.usage) ?? readUsage(choice?.usage);
  if (usage) chunk.usage = usage;
  if (choice) readChoice(choice, chunk);
  return chunk;
}

function isFirstChoice(choice: unknown): choice is Fields {
  return isFields(choice) && (choice.index === undefined || choice.index === null || choice.index === 0);
}

function readChoice(choice: Fields, chunk: Chunk): void {
  const finish = nonEmpty(choice.finish_reason);
  if (finish) chunk.finishReason = /^[a-zA-Z0-9_-]{1,64}$/.test(finish) ? finish : 'unknown';
  // A server that ignores `stream` answers with a whole message.
  const delta = isFields(choice.delta) ? choice.delta : choice.message;
  if (!isFields(delta)) return;
  readContent(delta.content, chunk);
  chunk.text += nonEmpty(delta.refusal) ?? '';
  // Some servers send the same reasoning under both names.
  chunk.reasoning += nonEmpty(delta.reasoning_content) ?? nonEmpty(delta.reasoning) ?? '';
  if (Array.isArray(delta.tool_calls)) chunk.tools = delta.tool_calls.filter(isFields).map(readFragment);
}

/** Content is a string, or (Mistral) a list of text and thinking parts. */
function readContent(content: unknown, chunk: Chunk): void {
  if (typeof content === 'string') chunk.text += content;
  if (!Array.isArray(content)) return;
  for (const part of content.filter(isFields)) {
    if (part.type === 'text') chunk.text += nonEmpty(part.text) ?? '';
    if (part.type !== 'thinking') continue;
    const thoughts = Array.isArray(part.thinking) ? part.thinking.filter(isFields).map((t) => t.text) : [part.thinking];
    chunk.reasoning += thoughts.map((thought) => nonEmpty(thought) ?? '').join('');
  }
}

function readFragment(call: Fields): ToolFragment {
  const body = isFields(call.function) ? call.function : {};
  const fragment: ToolFragment = {};
  if (typeof call.index === 'number' && Number.isSafeInteger(call.index) && call.index >= 0)
    fragment.index = call.index;
  const id = nonEmpty(call.id);
  if (id) fragment.id = id;
  const name = nonEmpty(body.name);
  if (name) fragment.name = name;
  if (typeof body.arguments === 'string') fragment.arguments = body.arguments;
  else if (isFields(body.arguments)) fragment.arguments = JSON.stringify(body.arguments);
  return fragment;
}

const count = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;

function readUsage(value: unknown): Usage | undefined {
  if (!isFields(value)) return undefined;
  const inputTokens = count(value.prompt_tokens);
  const outputTokens = count(value.completion_tokens);
  if (inputTokens === null || outputTokens === null) return undefined;
  const input = isFields(value.prompt_tokens_details) ? value.prompt_tokens_details : {};
  const output = isFields(value.completion_tokens_details) ? value.completion_tokens_details : {};
  return {
    inputTokens,
    // DeepSeek's older name for the same count.
    cachedInputTokens: count(input.cached_tokens) ?? count(value.prompt_cache_hit_tokens),
    outputTokens,
    reasoningOutputTokens: count(output.reasoning_tokens),
    totalTokens: count(value.total_tokens) ?? inputTokens + outputTokens,
  };
}
