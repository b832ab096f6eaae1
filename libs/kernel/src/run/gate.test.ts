import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextTools, type PlannedCall, parseCall } from './gate.ts';

const tools = { readers: new Set(['read']), knownTools: new Set(['read', 'write']) };
const parse = (name: string, args: string) => parseCall({ callId: 'c', name, arguments: args }, tools);

/** `r` reads, `w` writes; the place is the id. */
const planned = (kinds: string): PlannedCall[] =>
  [...kinds].map((kind, index) => ({
    itemId: String(index),
    callId: String(index),
    name: kind,
    arguments: {},
    writes: kind === 'w',
    problem: null,
  }));
const starting = (kinds: string, running: string[] = []): string =>
  nextTools(planned(kinds), new Set(running))
    .map((call) => call.itemId)
    .join('');

describe('arguments of a call', () => {
  it('are read as an object, and nothing at all is an empty one', () => {
    expect(parse('read', '{"a":1}')).toMatchObject({ arguments: { a: 1 }, problem: null, writes: false });
    expect(parse('write', ' ')).toMatchObject({ arguments: {}, problem: null, writes: true });
  });

  it.each(['null', '[]', '"a"', '1', '{', 'undefined'])('%s is a problem that the model is told', (args) => {
    expect(parse('read', args)).toMatchObject({ arguments: {}, problem: { code: 'invalid_arguments' } });
  });

  it.each([
    ['one text', { a: '你'.repeat(262_145) }],
    ['many texts', Object.fromEntries(Array.from({ length: 3 }, (_, n) => [`k${n}`, '你'.repeat(60_000)]))],
    ['numbers that grow', { a: Array.from({ length: 40_000 }, () => 1e20) }],
  ])('that no message or commit can hold are a problem that the model is told: %s', (_name, args) => {
    expect(parse('write', JSON.stringify(args).replaceAll('100000000000000000000', '1e20'))).toMatchObject({
      arguments: {},
      problem: { code: 'arguments_too_large' },
    });
  });

  it('may hold a long text that is put aside', () => {
    expect(parse('write', JSON.stringify({ a: 'x'.repeat(700_000) }))).toMatchObject({ problem: null });
  });

  it('of an unknown tool are not looked at', () => {
    const call = parse('x'.repeat(5000), '{}');
    expect(call).toMatchObject({ writes: true, problem: { code: 'unknown_tool' } });
    expect(call.problem?.text.length).toBeLessThan(200);
  });

  it('never make it throw', () => {
    const text = fc.oneof(fc.string(), fc.json());
    fc.assert(
      fc.property(fc.string(), text, (name, args) => {
        expect(parse(name, args).callId).toBe('c');
      }),
    );
  });
});

describe('the gate', () => {
  it.each([
    ['rrr', [], '012'],
    ['rrw', [], '01'],
    ['wrr', [], '0'],
    ['w', [], '0'],
    ['rwr', [], '0'],
    ['rwr', ['0'], ''],
    ['rw', ['0'], ''],
    ['wr', ['0'], ''],
    ['rrr', ['0'], '12'],
    ['', [], ''],
  ])('of %s with %j running it starts %s', (kinds, running, expected) => {
    expect(starting(kinds, running)).toBe(expected);
  });

  it('keeps writers alone, lets nothing overtake a writer, and comes to an end', () => {
    const kinds = fc.string({ unit: fc.constantFrom('r', 'w'), maxLength: 12 });
    fc.assert(
      fc.property(kinds, fc.infiniteStream(fc.nat({ max: 11 })), (text, picks) => {
        const all = planned(text);
        let left = all;
        const running: PlannedCall[] = [];
        const done = new Set<string>();
        for (let turns = 0; left.length > 0; turns += 1) {
          expect(turns).toBeLessThanOrEqual(all.length);
          for (const call of nextTools(left, new Set(running.map((one) => one.itemId)))) {
            expect(running).not.toContain(call);
            const before = all.slice(0, all.indexOf(call));
            const mustBeDone = call.writes ? before : before.filter((one) => one.writes);
            expect(mustBeDone.every((one) => done.has(one.itemId))).toBe(true);
            running.push(call);
          }
          expect(running.length === 1 || running.every((call) => !call.writes)).toBe(true);
          expect(running.length).toBeGreaterThan(0);
          const [ended] = running.splice(picks.next().value % running.length, 1);
          left = left.filter((call) => call !== ended);
          done.add(ended?.itemId ?? '');
        }
        expect(done.size).toBe(all.length);
      }),
    );
  });
});
