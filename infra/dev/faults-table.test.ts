import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

interface Row {
  number: number;
  when: string;
  tests: { file: string; title: string }[];
}

const rows: Row[] = readFileSync(join(root, 'docs/faults.md'), 'utf8')
  .split('\n')
  .map((line) => /^\| (\d+) \|.*\| ([^|]*) \| ([^|]*) \|$/.exec(line))
  .flatMap((match) => {
    if (match === null) return [];
    const [, number, when = '', tests = ''] = match;
    const named = [...tests.matchAll(/`([^`]+)` "([^"]+)"/g)].map(([, file = '', title = '']) => ({ file, title }));
    return [{ number: Number(number), when, tests: named }];
  });

/** Rows of what is not built yet. */
const notYet = [35, 40];

describe('docs/faults.md', () => {
  it('has every row once, in order', () => {
    expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
    for (const { when } of rows) expect(['P', 'N']).toContain(when);
  });

  it('names a test for every row of each push', () => {
    const without = rows.filter(({ when, tests }) => when === 'P' && tests.length === 0).map(({ number }) => number);
    expect(without).toEqual(notYet);
  });

  it.each(rows.flatMap(({ number, tests }) => tests.map((test) => ({ number, ...test }))))(
    'row $number names a test that is there: $title',
    ({ file, title }) => {
      expect(existsSync(join(root, file)), file).toBe(true);
      const source = readFileSync(join(root, file), 'utf8');
      const titles = [...source.matchAll(/(['"`])((?:\\.|(?!\1).)*)\1/g)].map(([, , text]) => text);
      expect(titles.some((text) => text?.includes(title))).toBe(true);
    },
  );
});
