import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, grepTool, makeContext, makeFolder } from '@rookery/tool-runner/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let root: string;
beforeEach(() => {
  root = makeFolder();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(path: string, content: string | Uint8Array): void {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), content);
}

interface GrepOptions {
  readonly path?: string;
  readonly include?: string;
  readonly ignoreCase?: boolean;
  readonly limit?: number;
}
const grepWith = (program: string, pattern: string, options: GrepOptions = {}) =>
  grepTool(
    { pattern, path: null, include: null, ignoreCase: false, limit: 1000, ...options },
    makeContext(root),
    program,
  );

/** Searches with ripgrep and without it: both must answer the same. */
async function grep(pattern: string, options?: GrepOptions) {
  const [fast, own] = await Promise.all([
    grepWith('rg', pattern, options),
    grepWith('/nonexistent/rg', pattern, options),
  ]);
  expect(own).toEqual(fast);
  return fast;
}

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

describe('grep', () => {
  it('answers file:line:content in the order of the walk', async () => {
    putTree();
    const { output, details } = await grep('tw.');
    const expected = ['b.ts:2:two', '.hidden/x.ts:1:two', 'a/link.ts:2:two', 'a/z.ts:1:two', 'a/deep/y.js:1:two'];
    expect(output.split('\n')).toEqual(expected);
    expect(details).toEqual({ path: root, matches: 5, lineTruncations: 0, truncated: false });
  });

  it('searches a folder, one file, or names that match', async () => {
    putTree();
    expect((await grep('two', { path: 'a/deep' })).output).toBe('a/deep/y.js:1:two');
    expect((await grep('two', { path: 'b.ts' })).output).toBe('b.ts:2:two');
    expect((await grep('two', { include: '*.js' })).output).toBe('a/deep/y.js:1:two');
    expect((await grep('two', { include: 'a/*' })).output).toBe('a/link.ts:2:two\na/z.ts:1:two');
    expect((await grep('three')).output).toBe('No lines match.');
  });

  it('means the same with and without ripgrep', async () => {
    put('text', 'Foo(bar) {\n\tx = "a-b";\r\ncafé文 ١٢\n\u{feff}\n\nlast/line \\ end');
    put('bom', '\u{feff}start\r\nend\r\n');
    const patterns = [
      '^start$',
      'end$',
      '^$',
      '\\bcafé',
      'é\\b',
      '\\d+$',
      '\\w+',
      '\\W',
      '[^\\w\\s]+',
      '[]"-]',
      '{',
      '/l',
    ];
    const more = ['\\.|\\\\', 'a.b', '\\s', 'f(o){2}', '\\p{Script=Han}', '[[:upper:]]', '\\x{66}.*?o'];
    for (const pattern of [...patterns, ...more]) await grep(pattern);
    for (const pattern of ['FOO', '[A-C]É?', '\\bLAST']) await grep(pattern, { ignoreCase: true });
    put('latin1', Buffer.from([0x61, 0xe9, 0x62, 0x0a]));
    expect((await grep('^a')).output).toBe('latin1:1:a\u{fffd}b');
    expect((await grep('(?i)foo')).output).toBe('text:1:Foo(bar) {');
    expect((await grep('^start$|^end$')).output).toBe('bom:1:start\nbom:2:end');
  });

  it('cuts a line after 2,000 characters', async () => {
    put('wide', `${'é'.repeat(2000)}\n${'é'.repeat(2001)}\n${'x'.repeat(3_000_000)}é`);
    const { output, details } = await grep('é');
    const lines = output.split('\n');
    expect(lines.map((line) => line.length)).toEqual([7 + 2000, 7 + 2000, 7 + 2000]);
    expect(details).toMatchObject({ matches: 3, lineTruncations: 2 });
  });

  it('holds its limits on both sides', async () => {
    put('a', 'x\n'.repeat(3));
    put('b', 'x\n'.repeat(3));
    expect((await grep('x', { limit: 6 })).details).toMatchObject({ matches: 6, truncated: false });
    expect((await grep('x', { limit: 5 })).details).toMatchObject({ matches: 5, truncated: true });
    put('a', `${'y'.repeat(1994)}\n`.repeat(500));
    expect((await grep('y')).details).toMatchObject({ matches: 131, truncated: true });
  });

  it('searches more files than one batch, and files with odd names', async () => {
    for (let n = 0; n < 600; n += 1) put(`many/${String(n).padStart(3, '0')}`, 'x');
    put('-e', 'x');
    put('new\nline', 'x');
    const lines = (await grep('x')).output.split('\n');
    expect(lines).toHaveLength(602);
    expect(lines.slice(0, 3)).toEqual(['-e:1:x', '"new\\nline":1:x', 'many/000:1:x']);
  });

  it('refuses by code, also a pattern that would never end', async () => {
    put('a', `${'a'.repeat(40)}b`);
    for (const program of ['rg', '/nonexistent/rg']) {
      expect(await codeOf(grepWith(program, 'a('))).toBe('invalid_pattern');
      expect(await codeOf(grepWith(program, '\\p{Nope}'))).toBe('invalid_pattern');
      expect(await codeOf(grepWith(program, '[z-a]'))).toBe('invalid_pattern');
      expect(await codeOf(grepWith(program, 'a', { path: 'missing' }))).toBe('file_not_found');
      expect(await codeOf(grepWith(program, 'a', { include: '../*' }))).toBe('invalid_pattern');
    }
    expect(await codeOf(grepWith('/nonexistent/rg', '^(a+)+$'))).toBe('invalid_pattern');
    const cancelled = makeContext(root, { signal: AbortSignal.abort() });
    const args = { pattern: 'a', path: null, include: null, ignoreCase: false, limit: 1 };
    expect(await codeOf(grepTool(args, cancelled))).toBe('cancelled');
  });

  it('leaves the thread free while a pattern takes too long, and ends it when the call is cancelled', async () => {
    put('slow.txt', `${'a'.repeat(60)}!\n`);
    let turns = 0;
    const turning = setInterval(() => {
      turns += 1;
    }, 10);
    expect(await codeOf(grepWith('/nonexistent/rg', '^(a+)+$'))).toBe('invalid_pattern');
    clearInterval(turning);
    expect(turns).toBeGreaterThan(10);

    for (let n = 0; n < 200; n += 1) put(`many/${n}.txt`, `${'a'.repeat(24)}!\n`.repeat(20));
    const cancel = new AbortController();
    const args = { pattern: '^(a+)+$', path: 'many', include: null, ignoreCase: false, limit: 1 };
    const ended = codeOf(grepTool(args, makeContext(root, { signal: cancel.signal }), '/nonexistent/rg'));
    setTimeout(() => cancel.abort(), 200);
    expect(await ended).toBe('cancelled');
  });
});
