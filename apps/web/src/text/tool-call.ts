import type { Item } from '../wire/types.ts';

/** What a tool call says about itself, read with care: its arguments come from a model. */
export interface ToolCall {
  name: string;
  arguments: Record<string, unknown>;
  /** The argument that says most, in one line. */
  summary: string;
}

const TELLING = ['command', 'filePath', 'path', 'pattern', 'query', 'processId', 'message', 'title'];

export function readToolCall(item: Item): ToolCall {
  const { toolName, arguments: raw } = item.data;
  const args = asRecord(typeof raw === 'string' ? parse(raw) : raw);
  const key = TELLING.find((name) => typeof args[name] === 'string');
  const value = key === undefined ? '' : String(args[key]);
  return {
    name: typeof toolName === 'string' ? toolName : 'tool',
    arguments: args,
    summary: value.replace(/\s+/g, ' ').trim().slice(0, 200),
  };
}

export interface ToolResultView {
  output: string;
  ok: boolean | null;
  errorCode: string | null;
  truncated: boolean;
  processId: string | null;
  processState: string | null;
  exitCode: number | null;
  nextCursor: number;
  durationMs: number | null;
}

/** A tool result from its item: the record in its data, or its content where that is not JSON. */
export function readToolResult(item: Item): ToolResultView {
  const result = asRecord(item.data.result ?? parse(item.content));
  const details = { ...asRecord(result.details), ...result };
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);
  const number = (value: unknown) => (typeof value === 'number' ? value : null);
  return {
    output: typeof result.output === 'string' ? result.output : item.content,
    ok: typeof result.ok === 'boolean' ? result.ok : null,
    errorCode: text(details.errorCode),
    truncated: details.truncated === true,
    processId: text(details.processId),
    processState: text(details.state),
    exitCode: number(details.exitCode),
    nextCursor: number(details.nextCursor) ?? 0,
    durationMs: number(details.durationMs),
  };
}

function asRecord(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
