import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PathLocks } from '@rookery/sandbox';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { codeOf, makeContext, makeFolder } from '../testing/tool-context.ts';
import { writeTool } from './write.ts';

let root: string;
beforeEach(() => {
  root = makeFolder();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const locks = new PathLocks();
const write = (filePath: string, content: string) => writeTool({ filePath, content }, makeContext(root), locks);
const text = (name: string) => readFileSync(join(root, name), 'utf8');

it('makes a file with its folders', async () => {
  const { ok, details } = await write('a/b/c.txt', '你好\n');
  expect(ok).toBe(true);
  expect(details).toEqual({
    path: join(root, 'a/b/c.txt'),
    created: true,
    bytesWritten: 7,
    verified: true,
    bom: false,
    newline: 'lf',
    truncated: false,
  });
  expect(text('a/b/c.txt')).toBe('你好\n');
  expect(readdirSync(join(root, 'a/b'))).toEqual(['c.txt']);
});

it('keeps byte order mark, line ends and mode of the file it replaces', async () => {
  writeFileSync(join(root, 'old'), '\u{feff}a\r\nb\r\n');
  chmodSync(join(root, 'old'), 0o750);
  expect((await write('old', 'x\ny\n')).details).toMatchObject({ created: false, bom: true, newline: 'crlf' });
  expect(text('old')).toBe('\u{feff}x\r\ny\r\n');
  expect(statSync(join(root, 'old')).mode & 0o7777).toBe(0o750);
});

it('keeps lone CR, and leaves line ends alone where the old file mixes them', async () => {
  writeFileSync(join(root, 'cr'), 'a\rb');
  await write('cr', 'x\ny');
  expect(text('cr')).toBe('x\ry');
  writeFileSync(join(root, 'mixed'), 'a\r\nb\n');
  await write('mixed', 'x\ny\r\n');
  expect(text('mixed')).toBe('x\ny\r\n');
});

it('replaces a file of any size, and one that is no text', async () => {
  writeFileSync(join(root, 'large'), 'line\r\n'.repeat(3_000_000));
  expect((await write('large', 'x\n')).details).toMatchObject({ created: false, bytesWritten: 3, newline: 'crlf' });
  writeFileSync(join(root, 'latin1'), Buffer.from([0xe9, 0x0d, 0x0a]));
  expect((await write('latin1', 'x\n')).details).toMatchObject({ bytesWritten: 2, newline: 'lf' });
});

it('writes through a link to its target and leaves the link', async () => {
  symlinkSync('target', join(root, 'link'));
  expect((await write('link', 'x')).details).toMatchObject({ path: join(root, 'target'), created: true });
  expect(text('target')).toBe('x');
});

it('takes writers of one file through its aliases one after the other', async () => {
  writeFileSync(join(root, 'file'), '');
  symlinkSync('file', join(root, 'alias'));
  await Promise.all(['file', 'alias', 'file', 'alias'].map((name, index) => write(name, `${index}`)));
  expect(text('file')).toMatch(/^[0-3]$/);
  expect(readdirSync(root).sort()).toEqual(['alias', 'file']);
});

it('refuses what cannot be written and leaves nothing behind', async () => {
  mkdirSync(join(root, 'folder'));
  writeFileSync(join(root, 'file'), '');
  symlinkSync('/dev/null', join(root, 'device'));
  expect(await codeOf(write('folder', 'x'))).toBe('path_is_directory');
  expect(await codeOf(write('device', 'x'))).toBe('not_regular_file');
  expect(await codeOf(write('file/below', 'x'))).toBe('write_failed');
  expect(await codeOf(write('x'.repeat(300), 'x'))).toBe('invalid_path');
  expect(readdirSync(root).sort()).toEqual(['device', 'file', 'folder']);
});

it('lets nobody else read a file that is private while it is written', async () => {
  const path = join(root, 'secret');
  writeFileSync(path, 'old', { mode: 0o600 });
  const modes = new Set<number>();
  let ended = false;
  // Large enough to be seen in the middle of being written.
  const written = write('secret', 'x'.repeat(48 * 1024 * 1024)).finally(() => {
    ended = true;
  });
  while (!ended) {
    for (const name of readdirSync(root)) {
      const mode = statSync(join(root, name), { throwIfNoEntry: false })?.mode;
      if (mode !== undefined && name.endsWith('.tmp')) modes.add(mode & 0o777);
    }
    await new Promise(setImmediate);
  }
  expect((await written).ok).toBe(true);
  expect([...modes]).toEqual([0o600]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});
