import { describe, expect, it } from 'vitest';
import { findViolations, importsOf, type PackageFacts } from './boundaries.ts';

const facts = (folder: string, layer: string, declared: string[] = []): PackageFacts => ({
  name: folder === '' ? 'rookery' : `@rookery/${folder.split('/').at(-1)}`,
  folder,
  layer,
  declared: new Set(declared),
});

const packages = [
  facts('', 'root', ['vitest', 'esbuild']),
  facts('protocol', 'protocol', ['zod']),
  facts('libs/kernel', 'kernel', ['@rookery/protocol']),
  facts('libs/bus', 'lib', ['@rookery/protocol', '@nats-io/transport-node']),
  facts('libs/read-model', 'lib', ['kysely']),
  facts('libs/testkit', 'testkit', ['@rookery/bus']),
  facts('apps/agent', 'app', [
    '@rookery/protocol',
    '@rookery/bus',
    '@nats-io/transport-node',
    'kysely',
    '@rookery/memory',
  ]),
  facts('apps/memory', 'app', []),
  facts('apps/web', 'web', ['@rookery/protocol', '@rookery/bus']),
];
/** A source of each package that imports all that it declares, so that only the violation in question is found. */
const others = packages.map(({ folder, declared }) => ({
  path: `${folder}/src/all.ts`,
  imports: folder === '' ? [] : [...declared],
}));
const known = findViolations(packages, others);
const check = (path: string, ...imports: string[]) =>
  findViolations(packages, [...others, { path, imports }]).filter((line) => !known.includes(line));

describe('allowed', () => {
  it.each([
    ['apps/agent/src/a.ts', '@rookery/bus'],
    ['apps/agent/src/a.ts', './b.ts'],
    ['apps/agent/src/a.ts', 'node:fs'],
    ['libs/bus/src/a.ts', '@nats-io/transport-node'],
    ['libs/read-model/src/a.ts', 'kysely'],
    ['protocol/src/a.ts', 'zod'],
    ['libs/kernel/src/a.test.ts', 'vitest'],
    ['libs/kernel/src/a.test.ts', 'node:fs'],
    ['apps/agent/src/a.test.ts', '@rookery/testkit'],
    ['tests/e2e/a.test.ts', '@rookery/agent'],
    ['tests/e2e/a.test.ts', '@nats-io/transport-node'],
    ['apps/web/src/a.tsx', '@rookery/protocol'],
  ])('%s may import %s', (path, specifier) => {
    expect(check(path, specifier).filter((line) => !line.includes('not declared'))).toEqual([]);
  });
});

describe('refused', () => {
  it.each([
    ['apps/agent/src/a.ts', '@rookery/memory', 'layer app may not import layer app'],
    ['libs/bus/src/a.ts', '@rookery/agent', 'layer lib may not import layer app'],
    ['libs/kernel/src/a.ts', '@rookery/bus', 'layer kernel may not import layer lib'],
    ['libs/kernel/src/a.ts', 'node:fs', 'pure package'],
    ['libs/kernel/src/a.ts', 'fs', 'pure package'],
    ['apps/web/src/a.tsx', '@rookery/bus', 'layer web may not import layer lib'],
    ['apps/agent/src/a.ts', '../../memory/src/b.ts', 'leaves its package'],
    ['apps/agent/src/a.ts', 'left-pad', 'not declared'],
    ['apps/agent/src/a.ts', 'esbuild', 'not declared'],
    ['apps/agent/src/a.ts', '@nats-io/transport-node', 'only by libs/bus, libs/journal'],
    ['apps/agent/src/a.ts', 'kysely', 'only by libs/read-model'],
    ['apps/agent/src/a.ts', '@rookery/testkit', 'for tests only'],
    ['tests/e2e/a.test.ts', '../../apps/agent/src/a.ts', 'leaves its package'],
  ])('%s may not import %s', (path, specifier, reason) => {
    expect(check(path, specifier)).toEqual([expect.stringContaining(reason)]);
  });

  it('a package without a known layer', () => {
    const found = findViolations([...packages, facts('libs/new', '')], others).filter((line) => !known.includes(line));
    expect(found).toEqual([expect.stringContaining('libs/new')]);
  });
});

it('finds what is declared and imported by tests alone, or not at all', () => {
  const declaring = [
    facts('', 'root', ['vitest']),
    facts('libs/bus', 'lib', ['@rookery/protocol', 'left-pad', 'nano']),
  ];
  const files = [
    { path: 'libs/bus/src/a.ts', imports: ['nano/deep'] },
    { path: 'libs/bus/src/a.test.ts', imports: ['left-pad', 'vitest'] },
  ];
  expect(findViolations(declaring, files)).toEqual([
    'libs/bus/package.json: @rookery/protocol is declared and not imported',
    'libs/bus/package.json: left-pad is declared and not imported',
  ]);
});

it('finds imports in all their forms, and none in comments', () => {
  const from = (name: string) => `from '${name}';`;
  const text = [
    `import { a,\n  b } ${from('one')}`,
    `import type { C } from "two";`,
    `import ${"'three'"};`,
    `export { d } ${from('four')}`,
    `const e = await import(${"'five'"});`,
    `// import { f } ${from('six')}`,
    `/* import ${"'seven'"}; */`,
  ].join('\n');
  expect(importsOf(text).sort()).toEqual(['five', 'four', 'one', 'three', 'two']);
});
