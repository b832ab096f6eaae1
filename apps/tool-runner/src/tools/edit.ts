import { readFile } from 'node:fs/promises';
import type { PathLocks } from '@rookery/sandbox';
import type { toolParameters } from '../definitions.ts';
import { sha256Bytes, writeAtomically } from '../files/atomic-write.ts';
import { decodeText, readWhole, requireText } from '../files/read-text.ts';
import { replaceText } from '../files/replace-text.ts';
import { styleOf, type TextStyle } from '../files/text-style.ts';
import { requireFile, toolPath } from '../files/workspace-paths.ts';
import type { Arguments } from '../parameters.ts';
import { systemCode, type ToolContext, ToolFailure, type ToolOutcome } from '../tool-call.ts';

/** Replaces a piece of a text file that occurs once, or every occurrence of it. */
export async function editTool(
  args: Arguments<typeof toolParameters.edit>,
  context: ToolContext,
  locks: PathLocks,
): Promise<ToolOutcome> {
  const path = await toolPath(args.filePath, context);
  return locks.run(path, async () => {
    await requireFile(path, 'edit_failed');
    await requireText(path, 'edit_failed');
    const before = await readWhole(path, 'edit_failed');
    const replaced = replaceText(decodeText(before), args.oldString, args.newString, args.replaceAll);
    if (!replaced.ok) throw new ToolFailure(replaced.code, replaced.reason);
    const bytes = Buffer.from(replaced.text);
    await replaceFile(path, bytes, sha256Bytes(before));
    return edited(path, replaced.count, bytes.length, styleOf(replaced.text));
  });
}

async function replaceFile(path: string, bytes: Uint8Array, expected: string): Promise<void> {
  try {
    await writeAtomically(path, bytes, async () => {
      // Editors and commands do not take our lock: whoever changed the file since it was read must not lose that.
      if (sha256Bytes(await readFile(path)) !== expected) {
        throw new ToolFailure('stale_content', 'The file changed while it was being edited; read it again.');
      }
    });
  } catch (error) {
    if (error instanceof ToolFailure) throw error;
    throw new ToolFailure('edit_failed', `The file was not changed (${systemCode(error) || 'check failed'}).`, error);
  }
}

function edited(path: string, replacements: number, bytesWritten: number, style: TextStyle): ToolOutcome {
  const places = replacements === 1 ? '1 place' : `${replacements} places`;
  const details = { path, replacements, bytesWritten, verified: true, ...style, truncated: false };
  return { ok: true, output: `Edited ${path} in ${places}.`, details };
}
