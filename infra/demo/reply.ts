import { type ChatRequest, type OfferedTool, type PastCall, readTurn } from './conversation.ts';
import { type Intent, languageOf, readIntent } from './intent.ts';
import { texts } from './texts.ts';

/** What the demonstration answers: a text, or one call of a tool. */
export type Reply = { text: string } | { tool: string; arguments: Record<string, unknown> };

const shownLines = 20;
const shownChars = 2000;
/** Waits for a command before its answer says that it is still running. */
const maxWaits = 3;
const waitMs = 20_000;

/** Decides the answer to a request: pure, and from the newest user message alone. */
export function decideReply(request: ChatRequest): Reply {
  const { asked, calls } = readTurn(request);
  const intent = readIntent(asked);
  const say = texts[languageOf(asked)];
  if (intent.kind === 'help') return { text: say.help };
  const call = nextCall(intent, calls, request);
  if (!call) return { text: `${report(intent, calls, say)}\n\n${say.honest}` };
  if (!hasTool(request, call.tool)) {
    // A command whose output cannot be waited for is reported as far as it is known.
    const text = calls.length > 0 ? report(intent, calls, say) : say.missingTool(call.tool);
    return { text: `${text}\n\n${say.honest}` };
  }
  return call;
}

interface Call {
  tool: string;
  arguments: Record<string, unknown>;
}

function nextCall(intent: Intent, calls: PastCall[], request: ChatRequest): Call | undefined {
  if (calls.length === 0) return firstCall(intent, request);
  const last = calls.at(-1);
  if (intent.kind !== 'run' || intent.background || !last?.result.ok) return undefined;
  const { processId = calls[0]?.result.processId, nextCursor, state, hasMore } = last.result;
  const open = state === undefined || state === 'running' || hasMore;
  const waits = calls.filter((call) => call.tool === 'process_wait').length;
  if (processId === undefined || waits >= maxWaits || (waits > 0 && !open)) return undefined;
  const cursor = nextCursor === undefined ? {} : { cursor: nextCursor };
  return { tool: 'process_wait', arguments: { processId, ...cursor, timeoutMs: waitMs } };
}

function firstCall(intent: Intent, request: ChatRequest): Call | undefined {
  switch (intent.kind) {
    case 'list':
      return { tool: 'list', arguments: { path: intent.path } };
    case 'read':
      return { tool: 'read', arguments: { filePath: intent.filePath } };
    case 'write':
      return { tool: 'write', arguments: { filePath: intent.filePath, content: intent.content } };
    case 'run': {
      const known = intent.background && tool(request, 'process_start')?.parameters.includes('background');
      const background = known ? { background: true } : {};
      return { tool: 'process_start', arguments: { command: intent.command, ...background } };
    }
    case 'help':
      return undefined;
  }
}

const tool = (request: ChatRequest, name: string): OfferedTool | undefined =>
  request.tools.find((t) => t.name === name);
const hasTool = (request: ChatRequest, name: string): boolean => tool(request, name) !== undefined;

function report(intent: Intent, calls: PastCall[], say: (typeof texts)['en']): string {
  const last = calls.at(-1);
  if (!last) return '';
  // What process_start says of itself is no output of the command.
  const spoke = calls.filter((call) => call.tool !== 'process_start');
  const output = (spoke.length > 0 ? spoke : calls).map((call) => call.result.output).join('');
  if (!last.result.ok) return `${say.failed(last.tool, last.result.errorCode)}\n\n${excerpt(output, say)}`.trimEnd();
  return `${headline(intent, last, say)}\n\n${excerpt(output, say) || say.noOutput}`;
}

function headline(intent: Intent, last: PastCall, say: (typeof texts)['en']): string {
  const { state, exitCode, processId } = last.result;
  switch (intent.kind) {
    case 'list':
      return say.listed(intent.path);
    case 'read':
      return say.read(intent.filePath);
    case 'write':
      return say.wrote(intent.filePath);
    case 'run':
      if (intent.background) return say.background(intent.command, processId);
      return state === 'running' ? say.running(intent.command) : say.ran(intent.command, exitCode);
    case 'help':
      return '';
  }
}

/** The first lines of an output in a fence that no line of it can close. */
function excerpt(output: string, say: (typeof texts)['en']): string {
  const lines = output.trimEnd().split('\n');
  if (lines.length === 1 && lines[0] === '') return '';
  const shown = lines.slice(0, shownLines).join('\n').slice(0, shownChars);
  const fence = '`'.repeat(Math.max(3, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  const rest = lines.length - shownLines;
  return `${fence}\n${shown}\n${fence}${rest > 0 ? `\n\n${say.cut(rest)}` : ''}`;
}
