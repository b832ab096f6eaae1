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

const MISSING = JSON.stringify({
  ok: false,
  output: 'The result of this call was not stored.',
  errorCode: 'effect_unknown',
});

interface OpenStep {
  content: string | null;
  stepId: unknown;
  calls: { ordinal: number; call: ToolCallMessage }[];
  results: Map<string, string>;
  /** User messages that came while the calls ran: they stand after the results. */
  later: ModelMessage[];
}

const isComplete = (open: OpenStep): boolean => open.calls.every(({ call }) => open.results.has(call.id));

function close(open: OpenStep | null, out: ModelMessage[]): void {
  if (open === null) return;
  const { content } = open;
  // Calls that ran together end in any order; the model is shown its own.
  const calls = open.calls.sort((a, b) => a.ordinal - b.ordinal).map(({ call }) => call);
  out.push(calls.length === 0 ? { role: 'assistant', content } : { role: 'assistant', content, tool_calls: calls });
  for (const { id } of calls) out.push({ role: 'tool', tool_call_id: id, content: open.results.get(id) ?? MISSING });
  out.push(...open.later);
}

/** What a model reads of a tool's result: its JSON without what the message says already and without empty facts. */
function resultText(item: Item): string {
  const content = text(item);
  try {
    const { toolCallId: _id, toolName: _name, ...facts } = JSON.parse(content) as Record<string, unknown>;
    return JSON.stringify(Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null)));
  } catch {
    return content;
  }
}

/**
 * Messages for items in the order of their ordinals or of their ends. The outcome is always valid for a strict provider:
 * every tool call is followed by exactly one result, in the order of the calls, whatever was killed in between.
 */
export function toMessages(items: readonly Item[]): ModelMessage[] {
  const out: ModelMessage[] = [];
  let open: OpenStep | null = null;
  const begin = (stepId: unknown, content: string | null): OpenStep => {
    close(open, out);
    return { content, stepId, calls: [], results: new Map(), later: [] };
  };
  for (const item of items) {
    if (item.kind === 'message' && item.role === 'user') {
      if (item.data.status === 'unprocessed') continue;
      const message: ModelMessage = { role: 'user', content: text(item) };
      if (open !== null && !isComplete(open)) open.later.push(message);
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
      open.calls.push({ ordinal: item.ordinal, call });
    } else if (open !== null) {
      open.results.set(String(item.data.callId), resultText(item));
    }
  }
  close(open, out);
  return out;
}
