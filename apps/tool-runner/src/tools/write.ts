import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { PathLocks } from '@rookery/sandbox';
import type { toolParameters } from '../definitions.ts';
import { writeAtomically } from '../files/atomic-write.ts';
import { readBeginning } from '../files/read-text.ts';
import { styleOf, type TextStyle, withStyle } from '../files/text-style.ts';
import { pathKind, toolPath } from '../files/workspace-paths.ts';
import type { Arguments } from '../parameters.ts';
import { systemCode, type ToolContext, ToolFailure, type ToolOutcome } from '../tool-call.ts';

/** Makes a text file or replaces all of it, keeping byte order mark, line ends and mode. */
export async function writeTool(
  args: Arguments<typeof toolParameters.write>,
  context: ToolContext,
  locks: PathLocks,
): Promise<ToolOutcome> {
  const path = await toolPath(args.filePath, context);
  return locks.run(path, async () => {
    const kind = await pathKind(path, 'write_failed');
    if (kind === 'folder') throw new ToolFailure('path_is_directory', `${path} is a folder.`);
    if (kind === 'other') throw new ToolFailure('not_regular_file', `${path} is not a regular file.`);
    const created = kind === 'missing';
    const text = created ? args.content : withStyle(args.content, await styleOfFile(path));
    const bytes = Buffer.from(text);
    try {
      await mkdir(dirname(path), { recursive: true });
      await writeAtomically(path, bytes);
    } catch (error) {
      throw new ToolFailure(
        'write_failed',
        `The file was not written (${systemCode(error) || 'check failed'}).`,
        error,
      );
    }
    const style = styleOf(text);
    const details = { path, created, bytesWritten: bytes.length, verified: true, ...style, truncated: false };
    return { ok: true, output: `${created ? 'Created' : 'Replaced'} ${path} (${bytes.length} bytes).`, details };
  });
}

/** How much of the old file shows how its lines end, in bytes. */
const STYLE_BYTES = 1024 * 1024;

/** NOTE: a file that is no UTF-8 has no style to keep: all of it is replaced. */
async function styleOfFile(path: string): Promise<TextStyle> {
  const bytes = await readBeginning(path, STYLE_BYTES).catch((error: unknown) => {
    throw new ToolFailure('write_failed', `The old file cannot be read (${systemCode(error)}).`, error);
  });
  try {
    return styleOf(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true }));
  } catch {
    return { bom: false, newline: null };
  }
}
