import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isSubjectToken } from '@rookery/protocol';
import { writeAtomically } from './files/atomic-write.ts';
import type { ToolOutcome } from './tool-call.ts';

/** Outputs above this many bytes go to a file of their own. */
export const MAX_INLINE_BYTES = 64 * 1024;
const PREVIEW_LINES = 200;
const PREVIEW_BYTES = 32 * 1024;

/**
 * Puts a long output into `<root>/<threadId>/<itemId>.txt` and leaves its beginning with a hint how to read on. Where
 * the file cannot be written only the beginning is left.
 */
export async function spillOutput(
  outcome: ToolOutcome,
  root: string,
  threadId: string,
  itemId: string,
): Promise<ToolOutcome> {
  const bytes = Buffer.from(outcome.output);
  if (bytes.length <= MAX_INLINE_BYTES) return outcome;
  const preview = previewOf(bytes);
  const lines = countLines(outcome.output);
  const shownLines = countLines(preview);
  const path = await store(root, threadId, itemId, bytes);
  const output = `${preview}\n(${hint(path, shownLines, lines)})`;
  if (path === null) return { ...outcome, output, details: { ...outcome.details, truncated: true } };
  const artifact = {
    artifactPath: path,
    artifactBytes: bytes.length,
    artifactLines: lines,
    artifactPreviewLines: shownLines,
  };
  return { ...outcome, output, details: { ...outcome.details, ...artifact, truncated: true } };
}

async function store(root: string, threadId: string, itemId: string, bytes: Uint8Array): Promise<string | null> {
  if (!isSubjectToken(threadId) || !isSubjectToken(itemId)) return null;
  const folder = join(root, threadId);
  const path = join(folder, `${itemId}.txt`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeAtomically(path, bytes);
    return path;
  } catch {
    return null;
  }
}

/** Whole lines from the beginning, or a part of the first one if even that is too long. */
function previewOf(bytes: Buffer): string {
  let end = 0;
  for (let line = 0; line < PREVIEW_LINES; line += 1) {
    const next = bytes.indexOf(10, end);
    if (next < 0 || next + 1 > PREVIEW_BYTES) break;
    end = next + 1;
  }
  if (end > 0) return bytes.toString('utf8', 0, end - 1);
  return bytes.toString('utf8', 0, PREVIEW_BYTES).replace(/\u{fffd}$/u, '');
}

function countLines(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}

function hint(path: string | null, shown: number, lines: number): string {
  if (path === null) return `the first ${shown} of ${lines} lines; the rest could not be kept`;
  return `the first ${shown} of ${lines} lines; go on with read, filePath=${path}, offset=${shown + 1}`;
}
