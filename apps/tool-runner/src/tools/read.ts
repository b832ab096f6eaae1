import { type FileHandle, open } from 'node:fs/promises';
import { TextDecoder } from 'node:util';
import { limits } from '@rookery/protocol';
import type { toolParameters } from '../definitions.ts';
import { requireText } from '../files/read-text.ts';
import { type Line, LineSplitter } from '../files/text-lines.ts';
import { requireFile, toolPath } from '../files/workspace-paths.ts';
import type { Arguments } from '../parameters.ts';
import { systemCode, type ToolContext, ToolFailure, type ToolOutcome, throwIfCancelled } from '../tool-call.ts';

const CHUNK_BYTES = 64 * 1024;
const CUT_MARK = '… (line cut)';

/** Shows a page of a text file with numbered lines. */
export async function readTool(
  args: Arguments<typeof toolParameters.read>,
  context: ToolContext,
): Promise<ToolOutcome> {
  const path = await toolPath(args.filePath, context);
  await requireFile(path, 'read_failed');
  await requireText(path, 'read_failed');
  const page = await readPage(path, args.offset, args.limit, context.signal);
  const { shown, more, total, bom } = page;
  if (shown.length === 0 && args.offset > 1) {
    throw new ToolFailure('offset_out_of_range', `The file has ${total} lines; line ${args.offset} is not there.`);
  }
  const lineEnd = args.offset + shown.length - 1;
  const lineTruncations = shown.filter((line) => line.cut).length;
  return {
    ok: true,
    output: present(path, args.offset, page),
    details: {
      path,
      lineStart: args.offset,
      lineEnd,
      bytesRead: page.bytes,
      bom,
      truncated: more || lineTruncations > 0,
      lineTruncations,
      ...(more ? { nextOffset: lineEnd + 1 } : { totalLines: total }),
    },
  };
}

interface Page {
  readonly shown: readonly Line[];
  /** UTF-8 bytes of the shown lines with a line end each. */
  readonly bytes: number;
  readonly bom: boolean;
  readonly more: boolean;
  /** Lines of the file, where its end was reached. */
  readonly total: number;
}

async function readPage(path: string, offset: number, limit: number, signal: AbortSignal): Promise<Page> {
  const shown: Line[] = [];
  let bytes = 0;
  let bom = false;
  let number = 0;
  for await (const line of linesOf(path, signal, () => (bom = true))) {
    number += 1;
    if (number < offset) continue;
    const size = Buffer.byteLength(line.text) + 1;
    if (shown.length === limit || bytes + size > limits.toolOutputBytes) {
      return { shown, bytes, bom, more: true, total: number };
    }
    shown.push(line);
    bytes += size;
  }
  return { shown, bytes, bom, more: false, total: number };
}

async function* linesOf(path: string, signal: AbortSignal, onBom: () => void): AsyncGenerator<Line> {
  const file = await open(path, 'r').catch((error: unknown) => {
    throw new ToolFailure('read_failed', `The file cannot be opened (${systemCode(error)}).`, error);
  });
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const splitter = new LineSplitter();
    let first = true;
    for (let chunk = await nextChunk(file); ; chunk = await nextChunk(file)) {
      throwIfCancelled(signal);
      let piece = decodePiece(decoder, chunk);
      if (first && piece.startsWith('\u{feff}')) {
        onBom();
        piece = piece.slice(1);
      }
      first &&= piece.length === 0;
      yield* splitter.push(piece);
      if (chunk === null) break;
    }
    yield* splitter.end();
  } finally {
    await file.close();
  }
}

async function nextChunk(file: FileHandle): Promise<Uint8Array | null> {
  try {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, null);
    return bytesRead === 0 ? null : buffer.subarray(0, bytesRead);
  } catch (error) {
    throw new ToolFailure('read_failed', `The file cannot be read (${systemCode(error)}).`, error);
  }
}

function decodePiece(decoder: TextDecoder, chunk: Uint8Array | null): string {
  try {
    return chunk === null ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch (error) {
    throw new ToolFailure('unsupported_encoding', 'The file is not UTF-8 text.', error);
  }
}

function present(path: string, offset: number, page: Page): string {
  const numbered = page.shown.map((line, index) => `${offset + index}: ${line.text}${line.cut ? CUT_MARK : ''}`);
  const lineEnd = offset + page.shown.length - 1;
  const status = page.more
    ? `(lines ${offset} to ${lineEnd}; there are more: go on with offset=${lineEnd + 1})`
    : `(end of file, ${page.total} ${page.total === 1 ? 'line' : 'lines'})`;
  return [`<path>${path}</path>`, '<type>file</type>', '<content>', ...numbered, status, '</content>'].join('\n');
}
