import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PathLocks } from '@rookery/sandbox';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeAtomically } from '../files/atomic-write.ts';
import { codeOf, makeContext, makeFolder } from '../testing/tool-context.ts';
import { editTool } from './edit.ts';

let root: string;
beforeEach(() => {
  root = makeFolder();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const locks = new PathLocks();
const edit = (filePath: string, oldString: string, newString: string, replaceAll = false) =>
  editTool({ filePath, oldString, newString, replaceAll }, makeContext(root), locks);
const put = (name: string, content: string | Uint8Array) => writeFileSync(join(root, name), content);
const text = (name: string) => readFileSync(join(root, name), 'utf8');

it('edits one place and keeps byte order mark and line ends', async () => {
  put('a', '\u{feff}one\r\ntwo\r\n');
  expect(await edit('a', 'one\ntwo', '1\n2\n3')).toEqual({
    ok: true,
    output: `Edited ${join(root, 'a')} in 1 place.`,
    details: {
      path: join(root, 'a'),
      replacements: 1,
      bytesWritten: 12,
      verified: true,
      bom: true,
      newline: 'crlf',
      truncated: false,
    },
  });
  expect(text('a')).toBe('\u{feff}1\r\n2\r\n3\r\n');
});

it('takes files of 16 MiB and not of one byte more', async () => {
  put('a', `${'y'.repeat(16 * 1024 * 1024 - 1)}x`);
  expect(await codeOf(edit('a', 'x', 'z'))).toBe('ok');
  put('a', `${'y'.repeat(16 * 1024 * 1024)}x`);
  expect(await codeOf(edit('a', 'x', 'z'))).toBe('edit_failed');
}, 30_000);

it('loses no edit of many at once', async () => {
  put('a', 'x\n');
  await Promise.all([1, 2, 3, 4, 5].map((n) => edit('a', 'x\n', `x\n${n}\n`)));
  expect(text('a').split('\n').sort()).toEqual(['', '1', '2', '3', '4', '5', 'x']);
});

it('refuses by code and leaves the file alone', async () => {
  mkdirSync(join(root, 'folder'));
  put('a', 'b b');
  put('bin', 'a\0b');
  put('latin1', Buffer.from([0x61, 0xe9]));
  expect(await codeOf(edit('a', 'b', 'c'))).toBe('multiple_matches');
  expect(await codeOf(edit('a', 'z', 'c'))).toBe('no_match');
  expect(await codeOf(edit('a', 'b', 'b'))).toBe('no_change');
  expect(await codeOf(edit('missing', 'b', 'c'))).toBe('file_not_found');
  expect(await codeOf(edit('folder', 'b', 'c'))).toBe('path_is_directory');
  expect(await codeOf(edit('bin', 'b', 'c'))).toBe('binary_file');
  expect(await codeOf(edit('latin1', 'a', 'c'))).toBe('unsupported_encoding');
  expect(text('a')).toBe('b b');
  expect(readdirSync(root).sort()).toEqual(['a', 'bin', 'folder', 'latin1']);
});

it('does not overwrite what another program wrote meanwhile', async () => {
  put('a', `${'y'.repeat(8_000_000)}x`);
  const editing = codeOf(edit('a', 'x', 'z'));
  // Until the edit is done another program goes on appending, so it must meet at least one change.
  let done = false;
  void editing.then(() => (done = true));
  while (!done) await appendFile(join(root, 'a'), '+');
  expect(await editing).toBe('stale_content');
  expect(text('a')).toContain('x+');
});

it('keeps the old file and no temporary one when the last check refuses', async () => {
  put('a', 'old');
  await expect(
    writeAtomically(join(root, 'a'), Buffer.from('new'), () => Promise.reject(new Error('no'))),
  ).rejects.toThrow();
  expect(text('a')).toBe('old');
  expect(readdirSync(root)).toEqual(['a']);
});
