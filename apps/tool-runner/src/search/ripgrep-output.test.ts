import fc from 'fast-check';
import { expect, it } from 'vitest';
import { HitParser, MAX_KEPT } from './ripgrep-output.ts';

function parse(pieces: readonly Buffer[]): HitParser {
  const parser = new HitParser();
  for (const piece of pieces) parser.push(piece);
  return parser;
}

it('reads records however they are cut into pieces', () => {
  const output = Buffer.from(
    'a\x001:x:y\nnew\nline\x0022:é\r\nb\x003:\nlong\x004:'.concat('z'.repeat(40_000), '\nc\x005:end\n'),
  );
  const expected = [
    { file: 'a', line: 1, text: 'x:y' },
    { file: 'new\nline', line: 22, text: 'é' },
    { file: 'b', line: 3, text: '' },
    { file: 'c', line: 5, text: 'end' },
  ];
  fc.assert(
    fc.property(fc.array(fc.nat(output.length), { maxLength: 8 }), (cuts) => {
      const at = [0, ...cuts.sort((a, b) => a - b), output.length];
      const { hits } = parse(at.slice(1).map((end, index) => output.subarray(at[index], end)));
      expect(hits.filter((hit) => hit.file !== 'long')).toEqual(expected);
      const long = hits.find((hit) => hit.file === 'long');
      expect(long?.line).toBe(4);
      expect(long?.text).toMatch(/^z{4000,}$/);
    }),
  );
});

it('says when it has kept enough', () => {
  const line = Buffer.from(`a\x001:${'x'.repeat(8000)}\n`);
  const parser = new HitParser();
  const needed = Math.ceil((MAX_KEPT + 1) / 8000);
  for (let n = 1; n < needed; n += 1) parser.push(line);
  expect(parser.full).toBe(false);
  parser.push(line);
  expect(parser.full).toBe(true);
});
