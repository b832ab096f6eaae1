import { appendFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '@rookery/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeFolder } from '../testing/tool-context.ts';
import { ProcessLog } from './process-log.ts';

const WINDOW = limits.processWindowBytes;
const PAGE = limits.processPageBytes;

let root: string;
let path: string;
beforeEach(() => {
  root = makeFolder();
  path = join(root, 'x.log');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Lines of 16 bytes that tell their own position. */
function numbered(bytes: number): Buffer {
  return Buffer.from(Array.from({ length: bytes / 16 }, (_, n) => `${String(n * 16).padStart(15, '0')}\n`).join(''));
}

function readAll(log: ProcessLog): string {
  let output = '';
  for (let cursor = 0; ; ) {
    const page = log.page(cursor, true);
    if (page === null) throw new Error('a cursor that was answered is refused');
    output += page.output;
    if (!page.hasMore) return output;
    cursor = page.nextCursor;
  }
}

describe('pages', () => {
  it('holds 16 KiB on both sides', () => {
    writeFileSync(path, 'x'.repeat(PAGE));
    expect(new ProcessLog(path, 0).page(0, true)).toMatchObject({ nextCursor: PAGE, hasMore: false });
    writeFileSync(path, 'x'.repeat(PAGE + 1));
    expect(new ProcessLog(path, 0).page(0, true)).toMatchObject({ nextCursor: PAGE, hasMore: true });
    expect(new ProcessLog(path, 0).page(PAGE, true)).toMatchObject({
      output: 'x',
      nextCursor: PAGE + 1,
      hasMore: false,
    });
  });

  it('takes the end as a cursor and nothing behind it', () => {
    writeFileSync(path, 'abc');
    expect(new ProcessLog(path, 0).page(3, false)).toEqual({ output: '', cursor: 3, nextCursor: 3, hasMore: false });
    expect(new ProcessLog(path, 0).page(4, false)).toBeNull();
    expect(new ProcessLog(join(root, 'missing'), 0).page(0, false)).toMatchObject({ output: '', hasMore: false });
  });

  it('ends at a character, and waits for the rest of one that is being written', () => {
    writeFileSync(path, `${'x'.repeat(PAGE - 1)}文`);
    expect(new ProcessLog(path, 0).page(0, false)).toMatchObject({ nextCursor: PAGE - 1, hasMore: true });
    writeFileSync(path, Buffer.from('a文').subarray(0, 2));
    expect(new ProcessLog(path, 0).page(0, false)).toMatchObject({ output: 'a', nextCursor: 1, hasMore: false });
    expect(new ProcessLog(path, 0).page(0, true)).toMatchObject({ output: 'a\u{fffd}', nextCursor: 2 });
  });
});

describe('folding', () => {
  it('leaves 1 MiB alone and drops one byte more', () => {
    writeFileSync(path, numbered(WINDOW));
    const log = new ProcessLog(path, 0);
    expect(log.foldAfterEnd()).toBe(false);
    appendFileSync(path, 'x');
    expect(log.foldAfterEnd()).toBe(true);
    expect(log.omittedBytes).toBe(1);
    expect(statSync(path).size).toBe(WINDOW);
    expect(log.total).toBe(WINDOW + 1);
  });

  it('keeps the first and the last half MiB and marks what lies between', () => {
    const whole = numbered(WINDOW * 3);
    writeFileSync(path, whole);
    const log = new ProcessLog(path, 0);
    log.foldAfterEnd();
    const head = whole.subarray(0, WINDOW / 2).toString();
    const tail = whole.subarray(WINDOW * 2.5).toString();
    expect(readAll(log)).toBe(`${head}... ${WINDOW * 2} bytes omitted ...\n${tail}`);
  });

  it('keeps cursors true while a command goes on writing', () => {
    const whole = numbered(WINDOW * 4);
    writeFileSync(path, '');
    const log = new ProcessLog(path, 0);
    for (let at = 0; at < whole.length; at += 400_000) {
      appendFileSync(path, whole.subarray(at, at + 400_000));
      log.foldWhileRunning();
      expect(log.total).toBe(Math.min(whole.length, at + 400_000));
      expect(statSync(path).size).toBeLessThan(WINDOW * 1.5 + 400_000);
    }
    const cursor = whole.length - 1600;
    expect(log.page(cursor, false)?.output).toBe(whole.subarray(cursor).toString());
    expect(log.page(1600, false)?.output).toBe(whole.subarray(1600, 1600 + PAGE).toString());
    log.foldAfterEnd();
    expect(log.page(cursor, true)?.output).toBe(whole.subarray(cursor).toString());
    expect(new ProcessLog(path, log.omittedBytes).page(cursor, true)?.output).toBe(whole.subarray(cursor).toString());
  });

  it('answers a cursor inside the gap with the mark and the kept tail', () => {
    writeFileSync(path, numbered(WINDOW * 2));
    const log = new ProcessLog(path, 0);
    log.foldAfterEnd();
    const page = log.page(WINDOW, true);
    const resume = WINDOW * 1.5;
    expect(page?.output.startsWith(`... ${WINDOW / 2} bytes omitted ...\n${String(resume).padStart(15, '0')}\n`)).toBe(
      true,
    );
    expect(page?.cursor).toBe(WINDOW);
    expect(page?.nextCursor).toBeGreaterThan(resume);
    expect(Buffer.byteLength(page?.output ?? '')).toBeLessThanOrEqual(PAGE);
  });

  it('cuts no character at the gap', () => {
    writeFileSync(path, `x${'文'.repeat(WINDOW)}`);
    const log = new ProcessLog(path, 0);
    log.foldAfterEnd();
    const tail = log.page(WINDOW, true)?.output.split('omitted ...\n')[1] ?? '';
    expect(tail).toMatch(/^文+$/);
  });
});

it('gives the last bytes of an output', () => {
  writeFileSync(path, '文文文');
  expect(new ProcessLog(path, 0).tail(100)).toBe('文文文');
  expect(new ProcessLog(path, 0).tail(4)).toBe('文');
});
