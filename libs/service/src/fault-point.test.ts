import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultPoint } from './fault-point.ts';

const source = fileURLToPath(new URL('./fault-point.ts', import.meta.url));
let folder: string;

/** A program that passes three places, the second of them twice. */
async function bundle(name: string, faults: boolean | null): Promise<void> {
  await build({
    stdin: {
      contents: `import { faultPoint } from ${JSON.stringify(source)};
        for (const name of ['a', 'b', 'b', 'c']) { faultPoint(name); process.stdout.write(name); }`,
      resolveDir: folder,
    },
    bundle: true,
    format: 'esm',
    platform: 'node',
    outfile: join(folder, name),
    ...(faults === null ? {} : { define: { __FAULTS__: String(faults) } }),
  });
}

function run(name: string, fault: string): { output: string; signal: string | null } {
  const { stdout, signal } = spawnSync(process.execPath, [join(folder, name)], {
    env: { FAULT: fault },
    encoding: 'utf8',
  });
  return { output: stdout, signal };
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rookery-fault-'));
  await Promise.all([bundle('faults.mjs', true), bundle('none.mjs', false), bundle('plain.mjs', null)]);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('a fault point', () => {
  it('does nothing in this process', () => {
    process.env.FAULT = 'here';
    faultPoint('here');
    delete process.env.FAULT;
  });

  it.each(['none.mjs', 'plain.mjs'])('does nothing in the build %s', (name) => {
    expect(run(name, 'b')).toEqual({ output: 'abbc', signal: null });
  });

  it.each([
    ['a', ''],
    ['b', 'a'],
    ['b@1', 'a'],
    ['b@2', 'ab'],
    ['c', 'abb'],
  ])('ends a fault build at %s', (fault, output) => {
    expect(run('faults.mjs', fault)).toEqual({ output, signal: 'SIGKILL' });
  });

  it.each(['', 'd', 'b@3', 'b@x'])('lets a fault build pass where FAULT is %j', (fault) => {
    expect(run('faults.mjs', fault)).toEqual({ output: 'abbc', signal: null });
  });
});
