import { canonicalJson, canonicalSha256, type Item } from '@rookery/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chooseContext, type HistoryTurn, itemTokens } from './context.ts';
import { play, start, timeAt } from './testing/scenario.ts';

const message = (content: Item['content']): Item => ({
  id: 'item_1',
  turnId: 'turn_1',
  runId: 'run_1',
  ordinal: 1,
  kind: 'message',
  role: 'user',
  status: 'completed',
  content,
  data: {},
  createdAt: timeAt(0),
  updatedAt: timeAt(0),
});
const toolCall = (callId: string, toolName: string, args: Record<string, unknown>): Item => ({
  ...message(''),
  kind: 'tool_call',
  role: 'assistant',
  data: { stepId: 's', callId, toolName, arguments: args },
});
const turns = (count: number, chars: number): HistoryTurn[] =>
  Array.from({ length: count }, (_, index) => ({ turnId: `turn_${index}`, items: [message('x'.repeat(chars))] }));
const choose = (
  history: readonly HistoryTurn[],
  contextWindow = 32_768,
  tools: Parameters<typeof chooseContext>[0]['tools'] = [],
) => chooseContext({ history, userItem: message('Hi'), instructions: ['Be brief.'], tools, contextWindow });

describe('the bound of an item', () => {
  it.each([
    ['/process.run golden', 83],
    ['Write hello.txt', 79],
    ['', 64],
    ['你好', 70],
    ['🐦', 68],
  ])('of the text %s is %i', (content, tokens) => {
    expect(itemTokens(message(content))).toBe(tokens);
  });

  it.each([
    ['golden-write', 'write', { filePath: 'C:/golden-workspace/hello.txt', content: '你好\n' }, 189],
    ['call_00000000000000000000000000000007', 'process_start', { command: 'golden' }, 172],
  ])('of the call %s is the bytes of its canonical form', (callId, name, args, tokens) => {
    expect(itemTokens(toolCall(callId, name, args))).toBe(tokens);
  });

  it('of a text in the object store counts all of its bytes', () => {
    expect(itemTokens(message({ blob: 'a'.repeat(64), bytes: 70_000, head: 'x' }))).toBe(70_064);
  });

  it('is never below the bytes of the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (content) => {
        expect(itemTokens(message(content))).toBe(64 + Buffer.byteLength(content));
      }),
    );
  });
});

describe('known hashes', () => {
  it('a provider without a base URL has the fingerprint that others compute', () => {
    const facts = {
      supportsTools: true,
      providerId: 'scripted',
      origin: 'scripted',
      modelId: 'scripted-v1',
      maxOutputTokens: 4096,
      contextWindow: 32_768,
      baseUrl: null,
    };
    expect(canonicalSha256(facts)).toBe('7b98cb18c0e8b2db95515f3f2e41384df5089850493d5e57cdf8ffd5025d1233');
  });

  it('a definition is hashed by its three fields in their canonical form', () => {
    const definition = { name: 'read', inputSchema: { type: 'object', properties: {} }, description: 'Reads.' };
    expect(canonicalJson(definition)).toBe(
      '{"description":"Reads.","inputSchema":{"properties":{},"type":"object"},"name":"read"}',
    );
    // printf %s '{"description":…}' | sha256sum
    expect(canonicalSha256(definition)).toBe('19d5da866971e5874cac1bcda62bb570d3a482c4394ac4f2722687fb65de0080');
  });
});

describe('choosing a context', () => {
  it.each([
    [32_768, 31_129, 7782],
    [6000, 5700, 1425],
  ])('a window of %i allows %i and keeps %i for the run', (window, maximumTokens, reservedCurrentRunTokens) => {
    expect(choose([], window).revision.budget).toMatchObject({ maximumTokens, reservedCurrentRunTokens });
  });

  it('counts instructions and tools with their overhead', () => {
    const tool = { name: 'a', description: 'b', inputSchema: {}, definitionSha256: 'f'.repeat(64) };
    const { budget } = choose([], 32_768, [tool]).revision;
    expect(budget).toMatchObject({ instructionTokens: 512 + 64 + 9, toolTokens: 64 + 47, currentRunTokens: 66 });
    expect(budget.totalTokens).toBe(585 + 111 + 66);
  });

  it('sends the newest turns that fit and says how many it left out', () => {
    const { turns: chosen, revision } = choose(turns(20, 5000));
    // 31,129 - 576 - 9 - 7,782 = 22,762 = 4 turns of 5,064
    expect(chosen.map((turn) => turn.turnId)).toEqual(['turn_16', 'turn_17', 'turn_18', 'turn_19']);
    expect(revision.historyGroups.map((group) => group.turnId)).toEqual(['turn_16', 'turn_19']);
    expect(revision.omissions).toEqual([{ sourceType: 'turns', sourceId: '16', reason: 'budget' }]);
  });

  it('says nothing of omissions where all fits', () => {
    const { turns: chosen, revision } = choose(turns(2, 10));
    expect(chosen).toHaveLength(2);
    expect(revision.omissions).toEqual([]);
  });

  it('sends no history where the message itself fills the window', () => {
    const userItem = message('x'.repeat(40_000));
    const choice = chooseContext({
      history: turns(1, 10),
      userItem,
      instructions: [],
      tools: [],
      contextWindow: 32_768,
    });
    expect(choice.turns).toEqual([]);
  });

  it('is always a suffix within the budget, and the next older turn would not fit', () => {
    const sizes = fc.array(fc.nat({ max: 8000 }), { maxLength: 30 });
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 40_000 }), (chars, window) => {
        const history = chars.map((size, index) => ({ turnId: `turn_${index}`, items: [message('x'.repeat(size))] }));
        const { turns: chosen, revision } = choose(history, window);
        expect(chosen).toEqual(history.slice(history.length - chosen.length));
        const { maximumTokens, reservedCurrentRunTokens, instructionTokens, currentRunTokens } =
          revision.budget as Record<string, number>;
        const fixed = (instructionTokens ?? 0) + Math.max(currentRunTokens ?? 0, reservedCurrentRunTokens ?? 0);
        const used = chosen.reduce((sum, turn) => sum + turn.items.reduce((all, item) => all + itemTokens(item), 0), 0);
        const next = history.at(-1 - chosen.length);
        if (chosen.length > 0) expect(fixed + used).toBeLessThanOrEqual(maximumTokens ?? 0);
        if (next !== undefined)
          expect(fixed + used + next.items.reduce((all, item) => all + itemTokens(item), 0)).toBeGreaterThan(
            maximumTokens ?? 0,
          );
      }),
    );
  });

  it('is told in an event that does not grow with the history', () => {
    const bytes = (count: number): number => {
      const { revision } = choose(turns(count, 10), 10_000_000);
      const events = play([{ ...start, contextRevision: revision, historyMessages: count }]).commits.flat();
      return JSON.stringify(events.find((event) => event.type === 'model.input_prepared')).length;
    };
    // Only digits grow: of two turn ids, of the message count and of two sums.
    expect(bytes(10_000) - bytes(10)).toBeLessThan(25);
    expect(bytes(10_000)).toBeLessThan(1500);
  });
});
