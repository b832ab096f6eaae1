/** A tool that the request offers. */
export interface OfferedTool {
  name: string;
  /** Names of its parameters. */
  parameters: string[];
}

interface Message {
  role: string;
  text: string;
  callId: string | undefined;
  calls: { id: string; name: string }[];
}

/** The part of a chat completion request that the demonstration looks at. */
export interface ChatRequest {
  messages: Message[];
  tools: OfferedTool[];
  stream: boolean;
  includeUsage: boolean;
}

type Fields = Record<string, unknown>;

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : []);
const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Reads a request body; undefined where it has no messages. */
export function readChatRequest(text: string): ChatRequest | undefined {
  const body = jsonObject(text) ?? {};
  const messages = listOf(body.messages).map(readMessage);
  if (messages.length === 0) return undefined;
  const tools = listOf(body.tools).map((tool) => {
    const { name, parameters } = fieldsOf(tool.function);
    return { name: stringOf(name), parameters: Object.keys(fieldsOf(fieldsOf(parameters).properties)) };
  });
  const includeUsage = fieldsOf(body.stream_options).include_usage === true;
  return { messages, tools, stream: body.stream === true, includeUsage };
}

function readMessage(message: Fields): Message {
  const { content, role, tool_call_id: callId } = message;
  return {
    role: stringOf(role),
    text:
      typeof content === 'string'
        ? content
        : listOf(content)
            .map((part) => stringOf(part.text))
            .join(''),
    callId: typeof callId === 'string' ? callId : undefined,
    calls: listOf(message.tool_calls).map((call) => ({
      id: stringOf(call.id),
      name: stringOf(fieldsOf(call.function).name),
    })),
  };
}

/** A tool call of this turn with what came of it. */
export interface PastCall {
  tool: string;
  result: ToolResult;
}

/** A tool result, as far as it says something that the demonstration shows or goes on with. */
export interface ToolResult {
  ok: boolean;
  output: string;
  errorCode: string | undefined;
  processId: string | undefined;
  state: string | undefined;
  exitCode: number | undefined;
  nextCursor: number | undefined;
  hasMore: boolean;
}

/** The newest user message and the calls that were made since. Nothing before it, and no result, is ever an instruction. */
export function readTurn({ messages }: ChatRequest): { asked: string; calls: PastCall[] } {
  const at = messages.findLastIndex((message) => message.role === 'user');
  const since = messages.slice(at + 1);
  const results = new Map(since.filter(({ role }) => role === 'tool').map(({ callId, text }) => [callId, text]));
  const calls = since.flatMap((message) => message.calls);
  return {
    asked: messages[at]?.text ?? '',
    calls: calls.map(({ id, name }) => ({ tool: name, result: readResult(results.get(id) ?? '') })),
  };
}

/** A result is JSON with `ok` and `output`; any other text counts as the output itself. */
function readResult(text: string): ToolResult {
  const fields = jsonObject(text);
  if (!fields || !('output' in fields || 'ok' in fields)) return { ...emptyResult, ok: true, output: text };
  const { output, errorCode, processId, state, exitCode, nextCursor } = fields;
  return {
    ok: fields.ok !== false,
    output: typeof output === 'string' ? output : output === undefined ? '' : JSON.stringify(output, null, 2),
    errorCode: typeof errorCode === 'string' ? errorCode : undefined,
    processId: typeof processId === 'string' ? processId : undefined,
    state: typeof state === 'string' ? state : undefined,
    exitCode: typeof exitCode === 'number' ? exitCode : undefined,
    nextCursor: typeof nextCursor === 'number' ? nextCursor : undefined,
    hasMore: fields.hasMore === true,
  };
}

const emptyResult: ToolResult = {
  ok: false,
  output: '',
  errorCode: undefined,
  processId: undefined,
  state: undefined,
  exitCode: undefined,
  nextCursor: undefined,
  hasMore: false,
};

function jsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
