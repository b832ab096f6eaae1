import { mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { codeOf, makeContext, makeFolder } from '../testing/tool-context.ts';
import { globTool } from './glob.ts';
import { listTool } from './list.ts';

let root: string;
beforeEach(() => {
  root = makeFolder();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(path: string, content: string | Uint8Array): void {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), content);
}

const glob = (pattern: string, path: string | null = null, limit = 1000) =>
  globTool({ pattern, path, limit }, makeContext(root));
const list = (path: string | null = null) => listTool({ path }, makeContext(root));

function putTree(): void {
  put('b.ts', 'one\ntwo\n');
  put('a/z.ts', 'two\n');
  put('a/deep/y.js', 'two');
  put('.hidden/x.ts', 'two');
  put('.gitignore', 'b.ts\n');
  put('.git/config.ts', 'two');
  put('a/node_modules/m.ts', 'two');
  put('picture.png', 'two');
  put('blob.ts', 'two\0');
  symlinkSync('../b.ts', join(root, 'a/link.ts'));
  symlinkSync('.', join(root, 'loop'));
}

describe('glob', () => {
  it('finds names at any depth, level by level, without what is left out', async () => {
    putTree();
    const { output, details } = await glob('*.ts');
    expect(output.split('\n')).toEqual(['b.ts', '.hidden/x.ts', 'a/link.ts', 'a/z.ts']);
    expect(details).toEqual({ path: root, matches: 4, truncated: false });
  });

  it('matches whole paths where the pattern has a slash', async () => {
    putTree();
    expect((await glob('a/*.ts')).output).toBe('a/link.ts\na/z.ts');
    expect((await glob('**/*.{js,ts}', 'a')).output).toBe('a/link.ts\na/z.ts\na/deep/y.js');
    expect((await glob('*.nothing')).output).toBe('No files match.');
  });

  it('holds its limit on both sides', async () => {
    for (let n = 0; n < 5; n += 1) put(`${n}.txt`, '');
    expect((await glob('*', null, 5)).details).toMatchObject({ matches: 5, truncated: false });
    expect((await glob('*', null, 4)).details).toMatchObject({ matches: 4, truncated: true });
  });

  it('takes a name that reads like a pattern as it is, and every form of a pattern', async () => {
    for (const name of ['[x].ts', 'x.ts', 'y.ts', 'z.md', 'deep/x.ts']) put(name, '');
    expect((await glob('[x].ts')).output).toBe('[x].ts\nx.ts\ndeep/x.ts');
    expect((await glob('./[xy].ts')).output).toBe('x.ts\ny.ts');
    expect((await glob('!*.ts')).output).toBe('z.md');
    expect((await glob('@(x|z).*')).output).toBe('x.ts\nz.md\ndeep/x.ts');
    expect((await glob('d?ep/*')).output).toBe('deep/x.ts');
  });

  it('leaves the thread free while a pattern takes too long, and gives up', async () => {
    put('a'.repeat(200), '');
    let turns = 0;
    const turning = setInterval(() => {
      turns += 1;
    }, 10);
    expect(await codeOf(glob('*a*a*a*a*a*a*b'))).toBe('invalid_pattern');
    clearInterval(turning);
    expect(turns).toBeGreaterThan(10);
  });

  it('refuses by code', async () => {
    put('file', '');
    expect(await codeOf(glob('../*'))).toBe('invalid_pattern');
    expect(await codeOf(glob('/etc/*'))).toBe('invalid_pattern');
    expect(await codeOf(glob('*', 'missing'))).toBe('file_not_found');
    expect(await codeOf(glob('*', 'file'))).toBe('not_a_directory');
    const cancelled = makeContext(root, { signal: AbortSignal.abort() });
    expect(await codeOf(globTool({ pattern: '*', path: null, limit: 1 }, cancelled))).toBe('cancelled');
  });
});

describe('list', () => {
  it('shows type, size, time and name of one level', async () => {
    put('b', '12345');
    put('a/deep', '');
    symlinkSync('b', join(root, 'c'));
    const time = new Date('2026-11-30T12:00:00.000Z');
    utimesSync(join(root, 'b'), time, time);
    const { output, details } = await list();
    const lines = output.split('\n').map((line) => line.split('\t'));
    expect(lines.map(([type, size, , name]) => [type, size, name])).toEqual([
      ['folder', '-', 'a'],
      ['file', '5', 'b'],
      ['link', '-', 'c'],
    ]);
    expect(lines[1]?.[2]).toBe('2026-11-30T12:00:00.000Z');
    expect(details).toEqual({ path: root, entries: 3, truncated: false });
  });

  it('holds 1,000 entries and says how many it leaves out', async () => {
    for (let n = 0; n < 1000; n += 1) put(`${n}`, '');
    expect((await list()).details).toMatchObject({ entries: 1000, truncated: false });
    put('one-more', '');
    const { output, details } = await list();
    expect(details).toMatchObject({ entries: 1001, truncated: true });
    expect(output.split('\n')).toHaveLength(1001);
  });

  it('takes a name that reads like a pattern as it is, and every form of a pattern', async () => {
    for (const name of ['[x].ts', 'x.ts', 'y.ts', 'z.md', 'deep/x.ts']) put(name, '');
    expect((await glob('[x].ts')).output).toBe('[x].ts\nx.ts\ndeep/x.ts');
    expect((await glob('./[xy].ts')).output).toBe('x.ts\ny.ts');
    expect((await glob('!*.ts')).output).toBe('z.md');
    expect((await glob('@(x|z).*')).output).toBe('x.ts\nz.md\ndeep/x.ts');
    expect((await glob('d?ep/*')).output).toBe('deep/x.ts');
  });

  it('leaves the thread free while a pattern takes too long, and gives up', async () => {
    put('a'.repeat(200), '');
    let turns = 0;
    const turning = setInterval(() => {
      turns += 1;
    }, 10);
    expect(await codeOf(glob('*a*a*a*a*a*a*b'))).toBe('invalid_pattern');
    clearInterval(turning);
    expect(turns).toBeGreaterThan(10);
  });

  it('refuses by code', async () => {
    put('file', '');
    mkdirSync(join(root, 'empty'));
    expect((await list('empty')).output).toBe('(empty folder)');
    expect(await codeOf(list('file'))).toBe('not_a_directory');
    expect(await codeOf(list('missing'))).toBe('file_not_found');
  });
});
