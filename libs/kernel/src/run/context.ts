import { type ContextRevision, canonicalJson, type Item, type ToolDefinition } from '@rookery/protocol';
import { byteLength } from '../thread/decide.ts';

/** Share of the model's window that its input may take, percent (seed-ikaros 6.6). */
const USABLE_PERCENT = 95;
/** Share of the usable window that is kept for the current run. */
const CURRENT_RUN_SHARE = 4;
const PER_ITEM = 64;
const INSTRUCTIONS = 512;
export const MEASUREMENT = 'conservative-utf8-upper-bound-v2';

/** Upper bound of the tokens of an item: 64 and its UTF-8 bytes, as in the seed's known answers. */
export function itemTokens(item: Pick<Item, 'kind' | 'content' | 'data'>): number {
  if (item.kind !== 'tool_call') {
    return PER_ITEM + (typeof item.content === 'string' ? byteLength(item.content) : item.content.bytes);
  }
  const { callId, toolName, arguments: args } = item.data;
  return PER_ITEM + byteLength(canonicalJson({ arguments: canonicalJson(args ?? {}), id: callId, name: toolName }));
}

export interface HistoryTurn {
  turnId: string;
  items: Item[];
}

export interface ContextChoice {
  /** Turns that are sent, oldest first: a contiguous suffix of the history. */
  turns: HistoryTurn[];
  revision: ContextRevision;
}

/** Chooses the newest turns that fit beside the instructions, the tools and this turn's own message. */
export function chooseContext(input: {
  history: readonly HistoryTurn[];
  userItem: Item;
  instructions: readonly string[];
  tools: readonly ToolDefinition[];
  contextWindow: number;
}): ContextChoice {
  const maximumTokens = Math.floor((input.contextWindow * USABLE_PERCENT) / 100);
  const reservedCurrentRunTokens = Math.floor(maximumTokens / CURRENT_RUN_SHARE);
  const instructionTokens =
    INSTRUCTIONS + input.instructions.reduce((sum, block) => sum + byteLength(block) + PER_ITEM, 0);
  const toolTokens = input.tools.reduce((sum, { name, description, inputSchema }) => {
    return sum + byteLength(canonicalJson({ name, description, inputSchema })) + PER_ITEM;
  }, 0);
  const currentRunTokens = itemTokens(input.userItem);
  let left = maximumTokens - instructionTokens - toolTokens - Math.max(currentRunTokens, reservedCurrentRunTokens);
  let historyTokens = 0;
  const chosen: HistoryTurn[] = [];
  for (const turn of [...input.history].reverse()) {
    const tokens = turn.items.reduce((sum, item) => sum + itemTokens(item), 0);
    if (tokens > left) break;
    left -= tokens;
    historyTokens += tokens;
    chosen.unshift(turn);
  }
  const omitted = input.history.length - chosen.length;
  const ends = chosen.length <= 1 ? chosen : [chosen[0], chosen.at(-1)].filter((turn) => turn !== undefined);
  const revision: ContextRevision = {
    revision: 1,
    historyGroups: ends.map((turn) => ({ turnId: turn.turnId, itemIds: [] })),
    historyItems: [],
    memory: [],
    budget: {
      mode: 'bounded',
      measurementVersion: MEASUREMENT,
      maximumTokens,
      reservedCurrentRunTokens,
      instructionTokens,
      contextDataTokens: 0,
      toolTokens,
      historyTokens,
      currentRunTokens,
      memoryTokens: 0,
      totalTokens: instructionTokens + toolTokens + historyTokens + currentRunTokens,
    },
    omissions: omitted === 0 ? [] : [{ sourceType: 'turns', sourceId: String(omitted), reason: 'budget' }],
    historyStatus: null,
    memoryContextCharacters: 0,
    compactionSummary: null,
    currentRunOmittedThroughItemId: null,
  };
  return { turns: chosen, revision };
}
