import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { toolParameters } from '../definitions.ts';
import { isBinaryFile } from '../files/read-text.ts';
import { cutLine } from '../files/text-lines.ts';
import { pathKind, toolPath } from '../files/workspace-paths.ts';
import type { Arguments } from '../parameters.ts';
import { linePattern } from '../search/line-pattern.ts';
import { ownMatcher } from '../search/own-matcher.ts';
import { type PathGlob, pathGlob } from '../search/path-glob.ts';
import { hasRipgrep, type LineMatcher, type Matches, ripgrepMatcher } from '../search/ripgrep.ts';
import type { Hit } from '../search/ripgrep-output.ts';
import { batchesOf, SEARCH_MS, shownPath, walkFiles } from '../search/walk.ts';
import { type ToolContext, ToolFailure, type ToolOutcome, throwIfCancelled } from '../tool-call.ts';

type GrepArguments = Arguments<typeof toolParameters.grep>;

const BATCH_FILES = 256;
/** Lines are gathered up to this many bytes; the rest is left to a narrower search. */
const MAX_OUTPUT_BYTES = 256 * 1024;

/** Searches text files line by line, with ripgrep if the named program is there, else by itself: the same results. */
export async function grepTool(args: GrepArguments, context: ToolContext, ripgrep = 'rg'): Promise<ToolOutcome> {
  const { root, only } = await searchRoot(args.path ?? '.', context);
  const matcher = await chooseMatcher(args, ripgrep);
  const include = args.include === null ? null : pathGlob(args.include);
  try {
    const found = new FoundLines(args.limit, root, await realpath(context.workspaceRoot));
    const timeLimit = AbortSignal.timeout(SEARCH_MS);
    const signal = AbortSignal.any([context.signal, timeLimit]);
    const files = only === null ? walkFiles(root, context.signal) : [only];
    const wanted = include === null ? files : included(files, include, context.signal);
    for await (const batch of batchesOf(wanted, BATCH_FILES)) {
      const { hits, complete } = await matcher.match(root, batch, signal).catch(unlessTimeIsUp(timeLimit));
      throwIfCancelled(context.signal);
      await found.add(batch, hits);
      if (!complete || timeLimit.aborted) found.truncated = true;
      if (found.truncated) break;
    }
    return found.outcome();
  } finally {
    matcher.close();
    include?.close();
  }
}

async function* included(
  files: AsyncIterable<string> | Iterable<string>,
  include: PathGlob,
  signal: AbortSignal,
): AsyncGenerator<string> {
  for await (const batch of batchesOf(files, BATCH_FILES)) yield* await include.filter(batch, signal);
}

/** A file of its own is searched from its folder. */
async function searchRoot(path: string, context: ToolContext): Promise<{ root: string; only: string | null }> {
  const resolved = await toolPath(path, context);
  const kind = await pathKind(resolved, 'read_failed');
  if (kind === 'missing') throw new ToolFailure('file_not_found', `There is no ${resolved}.`);
  if (kind === 'other') throw new ToolFailure('not_regular_file', `${resolved} is not a regular file.`);
  return kind === 'folder' ? { root: resolved, only: null } : { root: dirname(resolved), only: basename(resolved) };
}

async function chooseMatcher(args: GrepArguments, ripgrep: string): Promise<LineMatcher> {
  const flagged = args.pattern.startsWith('(?i)');
  const pattern = linePattern(flagged ? args.pattern.slice(4) : args.pattern);
  const ignoreCase = args.ignoreCase || flagged;
  // One more than asked for tells whether there are more.
  const own = ownMatcher(pattern.js, ignoreCase, args.limit + 1);
  const found = await hasRipgrep(ripgrep, pattern.rust, ignoreCase);
  return found ? ripgrepMatcher(ripgrep, pattern.rust, ignoreCase, args.limit + 1) : own;
}

function unlessTimeIsUp(timeLimit: AbortSignal): (error: unknown) => Matches {
  return (error) => {
    if (timeLimit.aborted) return { hits: [], complete: false };
    throw error;
  };
}

/** The lines of the answer, in the order of the walk. */
class FoundLines {
  truncated = false;
  #bytes = 0;
  #cut = 0;
  readonly #lines: string[] = [];
  readonly #limit: number;
  readonly #root: string;
  readonly #workspaceRoot: string;

  constructor(limit: number, root: string, workspaceRoot: string) {
    this.#limit = limit;
    this.#root = root;
    this.#workspaceRoot = workspaceRoot;
  }

  async add(batch: readonly string[], hits: readonly Hit[]): Promise<void> {
    const byFile = new Map<string, Hit[]>();
    for (const hit of hits) {
      const known = byFile.get(hit.file);
      if (known === undefined) byFile.set(hit.file, [hit]);
      else known.push(hit);
    }
    for (const file of batch) {
      const lines = byFile.get(file);
      if (lines === undefined || (await isBinaryFile(join(this.#root, file)).catch(() => true))) continue;
      for (const hit of lines.sort((a, b) => a.line - b.line)) {
        if (!this.#add(hit)) return;
      }
    }
  }

  #add(hit: Hit): boolean {
    const { text, cut } = cutLine(hit.text);
    const line = `${shownPath(join(this.#root, hit.file), this.#workspaceRoot)}:${hit.line}:${text}`;
    this.#bytes += Buffer.byteLength(line) + 1;
    this.truncated = this.#lines.length === this.#limit || this.#bytes > MAX_OUTPUT_BYTES;
    if (this.truncated) return false;
    if (cut) this.#cut += 1;
    this.#lines.push(line);
    return true;
  }

  outcome(): ToolOutcome {
    const matches = this.#lines.length;
    const lines = matches === 0 ? ['No lines match.'] : [...this.#lines];
    if (this.truncated) lines.push(`(there are more; only the first ${matches} are shown)`);
    const details = { path: this.#root, matches, lineTruncations: this.#cut, truncated: this.truncated };
    return { ok: true, output: lines.join('\n'), details };
  }
}
