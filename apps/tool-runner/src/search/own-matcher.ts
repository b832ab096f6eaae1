import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import vm from 'node:vm';
import { MAX_WHOLE_FILE_BYTES } from '../files/read-text.ts';
import { ToolFailure, throwIfCancelled } from '../tool-call.ts';
import type { MatchLines } from './ripgrep.ts';
import { type Hit, MAX_KEPT } from './ripgrep-output.ts';

/** What is kept of a line: more than is shown of it. */
const MAX_TEXT = 8192;

/** Longest time that a pattern may spend on one file, in milliseconds: this engine backtracks. */
const FILE_MS = 1000;

/**
 * Matches lines without ripgrep, with the same results for UTF-8 files up to 16 MiB; larger ones are passed over.
 * Fails with invalid_pattern for a pattern that takes too long.
 */
export function ownMatcher(pattern: string, ignoreCase: boolean, limit: number): MatchLines {
  const match = lineMatcher(pattern, ignoreCase);
  return async (root, files, signal) => {
    const hits: Hit[] = [];
    let kept = 0;
    for (const file of files) {
      throwIfCancelled(signal);
      const lines = await linesOf(join(root, file));
      for (const index of match(lines).slice(0, limit)) {
        const text = (lines[index] ?? '').slice(0, MAX_TEXT).replace(/\r$/, '');
        kept += text.length;
        hits.push({ file, line: index + 1, text });
      }
      if (kept > MAX_KEPT) return { hits, complete: false };
    }
    return { hits, complete: true };
  };
}

/** NOTE: only a script of vm can be stopped while it backtracks; the pattern's text goes in as data. */
function lineMatcher(pattern: string, ignoreCase: boolean): (lines: readonly string[]) => number[] {
  try {
    new RegExp(pattern, 'v');
  } catch (error) {
    throw new ToolFailure('invalid_pattern', 'The pattern cannot be used: it is no regular expression.', error);
  }
  const script = new vm.Script('lines.flatMap((line, index) => (expression.test(line) ? [index] : []))');
  const scope: { lines: readonly string[]; pattern: string; flags: string } = {
    lines: [],
    pattern,
    flags: ignoreCase ? 'iv' : 'v',
  };
  const context = vm.createContext(scope);
  vm.runInContext('const expression = new RegExp(pattern, flags)', context);
  return (lines) => {
    scope.lines = lines;
    try {
      return script.runInContext(context, { timeout: FILE_MS }) as number[];
    } catch (error) {
      throw new ToolFailure('invalid_pattern', 'The pattern takes too long to match.', error);
    }
  };
}

async function linesOf(path: string): Promise<string[]> {
  try {
    if ((await stat(path)).size > MAX_WHOLE_FILE_BYTES) return [];
    const lines = new TextDecoder().decode(await readFile(path)).split('\n');
    if (lines.at(-1) === '') lines.pop();
    return lines;
  } catch {
    return [];
  }
}
