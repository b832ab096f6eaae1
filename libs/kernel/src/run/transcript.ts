import type { Item } from '@rookery/protocol';

/** Messages in the shape of OpenAI chat completions, which the provider client sends as they are. */
export type ModelMessage =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string | null; tool_calls?: ToolCallMessage[] }
  | { role: 'tool'; tool_call_id: string; content: string };

export interface ToolCallMessage {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

const text = (item: Item): string => (typeof item.content === 'string' ? item.content : item.content.head);

const MISSING = JSON.stringify({ ok: false, output: 'The result of this call was not stored.', errorCode: 'effect_unknown' });

interface OpenStep {
  message: Extract<ModelMessage, { role: 'assistant' }>;
  stepId: unknown;
  callIds: string[];
  results: Map<string, string>;
  /** User messages that came while the calls ran: they stand after the results. */
  later: ModelMessage[];
}

const hasCalls = (open: OpenStep): boolean => open.callIds.length > 0;
const isComplete = (open: OpenStep): boolean => open.callIds.every((id) => open.results.has(id));

function close(open: OpenStep | null, out: ModelMessage[]): void {
  if (open === null) return;
  if (open.message.content === null && !hasCalls(open)) return;
  out.push(open.message);
  for (const id of open.callIds) out.push({ role: 'tool', tool_call_id: id, content: open.results.get(id) ?? MISSING });
  out.push(...open.later);
}

/** What a model reads of a tool's result: the output, and the facts beside it as JSON where there are any. */
function resultText(item: Item): string {
  const content = text(item);
  try {
    const { output, ok, toolCallId: _id, toolName: _name, ...facts } = JSON.parse(content) as Record<string, unknown>;
    if (typeof output !== 'string') return content;
    const rest = Object.entries(facts).filter(([, value]) => value !== null && value !== false);
    const detail = ok === true && rest.length === 0 ? '' : `\n${JSON.stringify({ ok, ...Object.fromEntries(rest) })}`;
    return `${output}${detail}`;
  } catch {
    return content;
  }
}

/**
 * Messages for items in ordinal order. The outcome is always valid for a strict provider: every tool call is followed
 * by exactly one result, in the order of the calls, whatever was killed in between.
 */
export function toMessages(items: readonly Item[]): ModelMessage[] {
  const out: ModelMessage[] = [];
  let open: OpenStep | null = null;
  const begin = (stepId: unknown, content: string | null): OpenStep => {
    close(open, out);
    return { message: { role: 'assistant', content }, stepId, callIds: [], results: new Map(), later: [] };
  };
  for (const item of items) {
    if (item.kind === 'message' && item.role === 'user') {
      if (item.data.status === 'unprocessed') continue;
      const message: ModelMessage = { role: 'user', content: text(item) };
      if (open !== null && hasCalls(open) && !isComplete(open)) open.later.push(message);
      else {
        close(open, out);
        open = null;
        out.push(message);
      }
    } else if (item.kind === 'message') {
      if (text(item) !== '') open = begin(item.data.stepId, text(item));
    } else if (item.kind === 'tool_call') {
      if (open === null || open.stepId !== item.data.stepId) open = begin(item.data.stepId, null);
      const id = String(item.data.callId);
      const call: ToolCallMessage = {
        id,
        type: 'function',
        function: { name: String(item.data.toolName), arguments: JSON.stringify(item.data.arguments ?? {}) },
      };
      open.message.tool_calls = [...(open.message.tool_calls ?? []), call];
      open.callIds.push(id);
    } else if (open !== null) {
      open.results.set(String(item.data.callId), resultText(item));
    }
  }
  close(open, out);
  return out;
}
