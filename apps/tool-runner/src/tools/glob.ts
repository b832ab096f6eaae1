import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { toolParameters } from '../definitions.ts';
import { isBinaryFile } from '../files/read-text.ts';
import { requireFolder } from '../files/workspace-paths.ts';
import type { Arguments } from '../parameters.ts';
import { pathGlob } from '../search/path-glob.ts';
import { batchesOf, SEARCH_MS, shownPath, walkFiles } from '../search/walk.ts';
import type { ToolContext, ToolOutcome } from '../tool-call.ts';

const BATCH_FILES = 256;

/** Finds text files whose path matches a glob. */
export async function globTool(
  args: Arguments<typeof toolParameters.glob>,
  context: ToolContext,
): Promise<ToolOutcome> {
  const root = await requireFolder(args.path ?? '.', context);
  const workspaceRoot = await realpath(context.workspaceRoot);
  const glob = pathGlob(args.pattern);
  const deadline = Date.now() + SEARCH_MS;
  const found: string[] = [];
  let truncated = false;
  try {
    for await (const batch of batchesOf(walkFiles(root, context.signal), BATCH_FILES)) {
      for (const file of await glob.filter(batch, context.signal)) {
        const path = join(root, file);
        // What cannot be opened is no text that the model could read.
        if (await isBinaryFile(path).catch(() => true)) continue;
        truncated = found.length === args.limit;
        if (truncated) break;
        found.push(shownPath(path, workspaceRoot));
      }
      truncated ||= Date.now() > deadline;
      if (truncated) break;
    }
  } finally {
    glob.close();
  }
  const lines = found.length === 0 ? ['No files match.'] : [...found];
  if (truncated) lines.push(`(there are more; only the first ${found.length} are shown)`);
  return { ok: true, output: lines.join('\n'), details: { path: root, matches: found.length, truncated } };
}
