import { spawn } from 'node:child_process';
import { commandEnvironment } from '@rookery/sandbox';
import { systemCode, ToolFailure } from '../tool-call.ts';
import { type Hit, HitParser } from './ripgrep-output.ts';

/** The hits of some files in the order of the files; not complete where there were too many to keep. */
export interface Matches {
  readonly hits: readonly Hit[];
  readonly complete: boolean;
}

/** A matcher of lines in files below a folder. Close it after the last question. */
export interface LineMatcher {
  match(root: string, files: readonly string[], signal: AbortSignal): Promise<Matches>;
  close(): void;
}

/** Tells whether ripgrep is there, and fails with invalid_pattern if it cannot use the pattern. */
export async function hasRipgrep(program: string, pattern: string, ignoreCase: boolean): Promise<boolean> {
  try {
    const { code } = await run(
      program,
      [...options(pattern, ignoreCase, 1), '--', '/dev/null'],
      '/',
      undefined,
      () => true,
    );
    // 0 and 1 tell whether a line matched, 2 that the pattern was not understood.
    if (code === 2)
      throw new ToolFailure('invalid_pattern', 'The pattern cannot be used: it is no regular expression.');
    return code === 0 || code === 1;
  } catch (error) {
    if (systemCode(error) === '') throw error;
    return false;
  }
}

/** Matches lines with ripgrep, at most a number of them a file. */
export function ripgrepMatcher(program: string, pattern: string, ignoreCase: boolean, limit: number): LineMatcher {
  const match: LineMatcher['match'] = async (root, files, signal) => {
    const parser = new HitParser();
    const arguments_ = [...options(pattern, ignoreCase, limit), '--', ...files.map((file) => `./${file}`)];
    await run(program, arguments_, root, signal, (chunk) => {
      parser.push(chunk);
      return !parser.full;
    });
    return { hits: parser.hits.map((hit) => ({ ...hit, file: hit.file.slice(2) })), complete: !parser.full };
  };
  return { match, close: () => undefined };
}

function options(pattern: string, ignoreCase: boolean, limit: number): string[] {
  return [
    '--no-config',
    '--no-messages',
    '--color=never',
    '--no-heading',
    '--with-filename',
    '--line-number',
    '--null',
    // What is binary is decided in one place for both matchers, after a file has matched.
    '--text',
    '--no-mmap',
    // One thread keeps the order of the files, so that it can be stopped early.
    '--threads=1',
    ignoreCase ? '--ignore-case' : '--case-sensitive',
    `--max-count=${limit}`,
    `--regexp=${pattern}`,
  ];
}

function run(
  program: string,
  arguments_: readonly string[],
  cwd: string,
  signal: AbortSignal | undefined,
  /** Tells whether more is wanted. */
  onOutput: (chunk: Buffer) => boolean,
): Promise<{ readonly code: number | null }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, arguments_, {
      cwd,
      env: commandEnvironment(process.env),
      stdio: ['ignore', 'pipe', 'ignore'],
      ...(signal && { signal }),
    });
    child.stdout.on('data', (chunk: Buffer) => {
      if (!onOutput(chunk)) child.kill();
    });
    child.once('error', (error) => {
      if (!signal?.aborted) reject(error);
    });
    child.once('close', (code) => resolve({ code }));
  });
}
