import { limits } from '@rookery/protocol';
import { byteLength } from '../thread/decide.ts';
import type { LoopContext } from './loop.ts';

/** A tool call of the current step, as the model asked for it. */
export interface PlannedCall {
  /** Empty until the call is announced. */
  itemId: string;
  callId: string;
  name: string;
  arguments: Record<string, unknown>;
  /** Changes something, so that it runs alone. */
  writes: boolean;
  /** Why it cannot be run at all. */
  problem: { code: string; text: string } | null;
}

/** True where a call fits in a message to a runner, and into a commit once its long strings are put aside. */
function fits(args: object): boolean {
  if (byteLength(JSON.stringify(args)) > limits.toolArgumentsBytes) return false;
  const short = JSON.stringify(args, (_key, value: unknown) =>
    typeof value === 'string' && value.length > limits.inlineStringChars ? '' : value,
  );
  return byteLength(short) <= limits.toolArgumentsInlineBytes;
}

/** Reads a call's arguments; what cannot be read or is not known becomes a call with a problem, never a failure. */
export function parseCall(
  call: { callId: string; name: string; arguments: string },
  context: Pick<LoopContext, 'readers' | 'knownTools'>,
): PlannedCall {
  const planned = { itemId: '', callId: call.callId, name: call.name, writes: !context.readers.has(call.name) };
  if (!context.knownTools.has(call.name)) {
    const text = `There is no tool named ${call.name.slice(0, 100)}.`;
    return { ...planned, arguments: {}, problem: { code: 'unknown_tool', text } };
  }
  try {
    const parsed: unknown = call.arguments.trim() === '' ? {} : JSON.parse(call.arguments);
    if (parsed !== null && typeof parsed === 'object' && !Array.isArray(parsed)) {
      if (!fits(parsed)) {
        const text = `The arguments are longer than ${limits.toolArgumentsBytes} bytes, or have too many long parts. Do it in smaller calls.`;
        return { ...planned, arguments: {}, problem: { code: 'arguments_too_large', text } };
      }
      return { ...planned, arguments: parsed as Record<string, unknown>, problem: null };
    }
  } catch {
    // Said to the model below: it can mend its own call.
  }
  return {
    ...planned,
    arguments: {},
    problem: { code: 'invalid_arguments', text: 'The arguments are not a JSON object.' },
  };
}

/**
 * Which waiting calls may start now (seed-ikaros 6.5): readers among the calls run together, a writer runs alone, and
 * nothing overtakes a waiting writer.
 */
export function nextTools(calls: readonly PlannedCall[], running: ReadonlySet<string>): PlannedCall[] {
  if (calls.some((call) => call.writes && running.has(call.itemId))) return [];
  const starting: PlannedCall[] = [];
  for (const call of calls) {
    if (running.has(call.itemId)) continue;
    if (!call.writes) {
      starting.push(call);
      continue;
    }
    if (running.size === 0 && starting.length === 0) starting.push(call);
    break;
  }
  return starting;
}
