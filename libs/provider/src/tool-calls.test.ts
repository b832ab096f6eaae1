import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ToolFragment } from './chunk.ts';
import { ProviderError } from './error.ts';
import { ToolCalls } from './tool-calls.ts';

function assemble(fragments: ToolFragment[], maxArguments = 1000): [string, string, string][] {
  let made = 0;
  const calls = new ToolCalls(maxArguments, () => `made_${++made}`);
  for (const fragment of fragments) calls.push(fragment);
  return calls.complete().map((event) => {
    if (event.type !== 'tool_call.completed') throw new Error('not a completed call');
    return [event.id, event.name, event.arguments];
  });
}

const two: [string, string, string][] = [
  ['a', 'read', '{"p":"{1}"}'],
  ['b', 'read', '{"p":2}'],
];

describe('ToolCalls', () => {
  it.each<[string, ToolFragment[]]>([
    [
      'id and name once, then index only',
      [
        { index: 0, id: 'a', name: 'read', arguments: '' },
        { index: 0, arguments: '{"p":' },
        { index: 1, id: 'b', name: 'read', arguments: '{' },
        { index: 0, arguments: '"{1}"}' },
        { index: 1, arguments: '"p":2}' },
      ],
    ],
    [
      'no index, id once',
      [
        { id: 'a', name: 'read' },
        { arguments: '{"p":"{1' },
        { arguments: '}"}' },
        { id: 'b', name: 'read', arguments: '{"p"' },
        { arguments: ':2}' },
      ],
    ],
    [
      'no index, id and name with every fragment, interleaved',
      [
        { id: 'a', name: 'read', arguments: '{"p":' },
        { id: 'b', name: 'read', arguments: '{"p":' },
        { id: 'a', name: 'read', arguments: '"{1}"}' },
        { id: 'b', name: 'read', arguments: '2}' },
      ],
    ],
    [
      'whole calls at once, index 0 for all',
      [
        { index: 0, id: 'a', name: 'read', arguments: '{"p":"{1}"}' },
        { index: 0, id: 'b', name: 'read', arguments: '{"p":2}' },
      ],
    ],
    [
      'index 0 for all, in fragments with their id',
      [
        { index: 0, id: 'a', name: 'read', arguments: '{"p":' },
        { index: 0, id: 'b', name: 'read', arguments: '{"p":' },
        { index: 0, id: 'a', arguments: '"{1}"}' },
        { index: 0, id: 'b', arguments: '2}' },
      ],
    ],
    [
      'id comes late',
      [
        { index: 0, name: 'read', arguments: '{"p":' },
        { index: 0, id: 'a', arguments: '"{1}"}' },
        { index: 7, name: 'read', id: 'b', arguments: '{"p":2}' },
      ],
    ],
    [
      'another id with each fragment of one call, name once',
      [
        { index: 0, id: 'a', name: 'read', arguments: '{"p":' },
        { index: 0, id: 'x', arguments: '"{1}"}' },
        { index: 1, id: 'b', name: 'read', arguments: '{"p":2}' },
      ],
    ],
  ])('assembles calls of providers that send %s', (_, fragments) => {
    expect(assemble(fragments)).toEqual(two);
  });

  it('names calls that have no id and never gives two calls the same one', () => {
    expect(
      assemble([
        { name: 'read', arguments: '{"p":1}' },
        { name: 'read', arguments: '{"p":2}' },
        { name: 'list' },
        { name: 'list', arguments: '{}' },
      ]),
    ).toEqual([
      ['made_1', 'read', '{"p":1}'],
      ['made_2', 'read', '{"p":2}'],
      ['made_3', 'list', '{}'],
    ]);
    expect(
      assemble([
        { index: 0, id: 'same', name: 'read', arguments: '{"p":' },
        { index: 1, id: 'same', name: 'read', arguments: '{"q":' },
        { index: 1, id: 'same', name: 'read', arguments: '2}' },
        { index: 0, id: 'same', name: 'read', arguments: '1}' },
      ]),
    ).toEqual([
      ['same', 'read', '{"p":1}'],
      ['made_1', 'read', '{"q":2}'],
    ]);
  });

  it('keeps any interleaving of any fragments apart by index', () => {
    const args = fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(args, fc.infiniteStream(fc.nat(9)), (values, numbers) => {
        const next = (): number => numbers.next().value ?? 0;
        const texts = values.map((value) => JSON.stringify(value));
        const rest = texts.map((text, index) => ({ index, text, first: true }));
        const fragments: ToolFragment[] = [];
        const order: number[] = [];
        while (rest.length > 0) {
          const at = next() % rest.length;
          const call = rest[at];
          if (!call) continue;
          const size = next();
          const fragment: ToolFragment = { index: call.index, arguments: call.text.slice(0, size) };
          fragments.push(call.first ? { ...fragment, id: `id${call.index}`, name: 'tool' } : fragment);
          if (call.first) order.push(call.index);
          call.first = false;
          call.text = call.text.slice(size);
          if (call.text === '') rest.splice(at, 1);
        }
        expect(assemble(fragments, 1e6)).toEqual(order.map((index) => [`id${index}`, 'tool', texts[index]]));
      }),
    );
  });

  it('refuses a call without a name, fragments of no call, too many arguments and too many calls', () => {
    const many = Array.from({ length: 129 }, (_, index) => ({ index, id: `i${index}`, name: 't' }));
    expect(() => assemble([{ index: 0, id: 'a', arguments: '{}' }])).toThrow(ProviderError);
    expect(() => assemble([{ arguments: '{}' }])).toThrow(ProviderError);
    expect(() => assemble([{ index: 0, id: 'a', name: 't', arguments: 'x'.repeat(1001) }])).toThrow(ProviderError);
    expect(() => assemble(many)).toThrow(ProviderError);
  });
});
