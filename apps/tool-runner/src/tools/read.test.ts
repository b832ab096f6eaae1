import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { codeOf, makeContext, makeFolder } from '../testing/tool-context.ts';
import { readTool } from './read.ts';

let root: string;
beforeEach(() => {
  root = makeFolder();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const read = (filePath: string, offset = 1, limit = 2000) => readTool({ filePath, offset, limit }, makeContext(root));
const put = (name: string, content: string | Uint8Array) => writeFileSync(join(root, name), content);

it('numbers lines inside path, type and content tags', async () => {
  put('a.txt', 'one\r\ntwo\n');
  const path = join(root, 'a.txt');
  expect(await read('a.txt')).toEqual({
    ok: true,
    output: `<path>${path}</path>\n<type>file</type>\n<content>\n1: one\n2: two\n(end of file, 2 lines)\n</content>`,
    details: {
      path,
      lineStart: 1,
      lineEnd: 2,
      bytesRead: 8,
      bom: false,
      truncated: false,
      lineTruncations: 0,
      totalLines: 2,
    },
  });
});

it('pages by offset and limit', async () => {
  put('a.txt', 'a\nb\nc\nd');
  expect((await read('a.txt', 2, 2)).details).toMatchObject({
    lineStart: 2,
    lineEnd: 3,
    truncated: true,
    nextOffset: 4,
  });
  expect((await read('a.txt', 4, 1)).details).toMatchObject({
    lineStart: 4,
    lineEnd: 4,
    truncated: false,
    totalLines: 4,
  });
  expect(await codeOf(read('a.txt', 5))).toBe('offset_out_of_range');
});

it('reads an empty file, and only from its first line', async () => {
  put('empty', '');
  expect((await read('empty')).details).toMatchObject({ lineStart: 1, lineEnd: 0, totalLines: 0, truncated: false });
  expect(await codeOf(read('empty', 2))).toBe('offset_out_of_range');
});

it('holds 2,000 lines and 50 KiB', async () => {
  put('lines', 'x\n'.repeat(2000));
  expect((await read('lines')).details).toMatchObject({ lineEnd: 2000, truncated: false, totalLines: 2000 });
  put('lines', 'x\n'.repeat(2001));
  expect((await read('lines')).details).toMatchObject({ lineEnd: 2000, truncated: true, nextOffset: 2001 });
  put('bytes', `${'x'.repeat(1023)}\n`.repeat(50));
  expect((await read('bytes')).details).toMatchObject({ lineEnd: 50, bytesRead: 51_200, truncated: false });
  put('bytes', `${`${'x'.repeat(1023)}\n`.repeat(49)}${'x'.repeat(1024)}`);
  expect((await read('bytes')).details).toMatchObject({ lineEnd: 49, truncated: true, nextOffset: 50 });
});

it('cuts a line after 2,000 characters and says so', async () => {
  put('wide', `${'é'.repeat(2000)}\n${'é'.repeat(2001)}\nend`);
  const { output, details } = await read('wide');
  expect(details).toMatchObject({ lineEnd: 3, lineTruncations: 1, truncated: true, totalLines: 3 });
  expect(output.split('\n')[3]).toBe(`1: ${'é'.repeat(2000)}`);
  expect(output.split('\n')[4]).toBe(`2: ${'é'.repeat(2000)}… (line cut)`);
});

it('shows no byte order mark but reports it', async () => {
  put('bom', '\u{feff}text');
  const { output, details } = await read('bom');
  expect(details.bom).toBe(true);
  expect(output).toContain('\n1: text\n');
});

it('decodes characters that lie across its chunks', async () => {
  put('cn', `a${'文'.repeat(60_000)}`);
  expect((await read('cn')).output).not.toContain('\u{fffd}');
});

it('refuses what is no text file', async () => {
  mkdirSync(join(root, 'folder'));
  put('x.zip', 'text');
  put('nul', 'a\0b');
  put('latin1', Buffer.from([0x61, 0xe9, 0x62, 0x0a]));
  put('late', Buffer.concat([Buffer.from('x'.repeat(100_000)), Buffer.from([0xff])]));
  symlinkSync('/dev/null', join(root, 'device'));
  expect(await codeOf(read('missing'))).toBe('file_not_found');
  expect(await codeOf(read('nul/below'))).toBe('file_not_found');
  expect(await codeOf(read('folder'))).toBe('path_is_directory');
  expect(await codeOf(read('device'))).toBe('not_regular_file');
  expect(await codeOf(read('x.zip'))).toBe('binary_file');
  expect(await codeOf(read('nul'))).toBe('binary_file');
  expect(await codeOf(read('latin1'))).toBe('unsupported_encoding');
  expect(await codeOf(read('late'))).toBe('unsupported_encoding');
  expect(await codeOf(read('a\0b'))).toBe('invalid_path');
});

it('refuses a workspace that is gone, and a cancelled call', async () => {
  put('a.txt', 'a');
  const args = { filePath: 'a.txt', offset: 1, limit: 1 };
  expect(await codeOf(readTool(args, makeContext(join(root, 'gone'))))).toBe('invalid_workspace');
  expect(await codeOf(readTool(args, makeContext(root, { signal: AbortSignal.abort() })))).toBe('cancelled');
});
