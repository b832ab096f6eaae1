import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MAX_INLINE_BYTES, spillOutput } from './artifacts.ts';
import { makeContext, makeFolder } from './testing/tool-context.ts';
import { readTool } from './tools/read.ts';

let root: string;
beforeEach(() => {
  root = makeFolder();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const outcome = (output: string) => ({ ok: true, output, details: { truncated: false } });
const spill = (output: string, itemId = 'item_1') => spillOutput(outcome(output), root, 'thread_1', itemId);

it('leaves 64 KiB alone and puts one byte more into a file', async () => {
  const short = outcome('x'.repeat(MAX_INLINE_BYTES));
  expect(await spillOutput(short, root, 'thread_1', 'item_1')).toBe(short);
  const long = 'x'.repeat(MAX_INLINE_BYTES + 1);
  const { details } = await spill(long);
  const path = join(root, 'thread_1/item_1.txt');
  expect(details).toEqual({
    truncated: true,
    artifactPath: path,
    artifactBytes: MAX_INLINE_BYTES + 1,
    artifactLines: 1,
    artifactPreviewLines: 1,
  });
  expect(readFileSync(path, 'utf8')).toBe(long);
  expect(statSync(join(root, 'thread_1')).mode & 0o777).toBe(0o700);
});

it('leaves 200 lines, and says where read goes on', async () => {
  const lines = Array.from({ length: 1000 }, (_, n) => `${n + 1}:${'x'.repeat(100)}`);
  const { output, details } = await spill(lines.join('\n'));
  expect(details).toMatchObject({ artifactLines: 1000, artifactPreviewLines: 200 });
  expect(output.split('\n').slice(0, 200)).toEqual(lines.slice(0, 200));
  expect(output).toContain('offset=201');
  const next = await readTool({ filePath: String(details.artifactPath), offset: 201, limit: 1 }, makeContext(root));
  expect(next.output).toContain(`201: ${lines[200]}`);
});

it('leaves at most 32 KiB in whole lines, or a part of a line that is longer', async () => {
  const wide = await spill(Array.from({ length: 100 }, () => '文'.repeat(1000)).join('\n'));
  expect(wide.details).toMatchObject({ artifactPreviewLines: 10 });
  const one = await spill('文'.repeat(30_000), 'item_2');
  expect(one.output.split('\n')[0]).toMatch(/^文+$/);
  expect(Buffer.byteLength(one.output)).toBeLessThan(33 * 1024);
});

it('answers with the beginning where the file cannot be written', async () => {
  writeFileSync(join(root, 'thread_1'), '');
  const { ok, details, output } = await spill('x\n'.repeat(100_000));
  expect([ok, details]).toEqual([true, { truncated: true }]);
  expect(output.split('\n')).toHaveLength(201);
  expect((await spill('x\n'.repeat(100_000), '../../escape')).details).toEqual({ truncated: true });
});
