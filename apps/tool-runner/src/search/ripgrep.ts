import { spawn } from 'node:child_process';
import { commandEnvironment } from '@rookery/sandbox';
import { systemCode, ToolFailure } from '../tool-call.ts';
import { type Hit, HitParser } from './ripgrep-output.ts';

/** A matcher: the hits of some files, in no certain order of files. */
export type MatchLines = (root: string, files: readonly string[], signal: AbortSignal) => Promise<Hit[]>;

/** Tells whether ripgrep is there, and fails with invalid_pattern if it cannot use the pattern. */
export async function hasRipgrep(program: string, pattern: string, ignoreCase: boolean): Promise<boolean> {
  try {
    const { code } = await run(
      program,
      [...options(pattern, ignoreCase, 1), '--', '/dev/null'],
      '/',
      undefined,
      () => {},
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
export function ripgrepMatcher(program: string, pattern: string, ignoreCase: boolean, limit: number): MatchLines {
  return async (root, files, signal) => {
    const parser = new HitParser();
    const arguments_ = [...options(pattern, ignoreCase, limit), '--', ...files.map((file) => `./${file}`)];
    await run(program, arguments_, root, signal, (chunk) => parser.push(chunk));
    return parser.hits.map((hit) => ({ ...hit, file: hit.file.slice(2) }));
  };
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
  onOutput: (chunk: Buffer) => void,
): Promise<{ readonly code: number | null }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, arguments_, {
      cwd,
      env: commandEnvironment(process.env),
      stdio: ['ignore', 'pipe', 'ignore'],
      ...(signal && { signal }),
    });
    child.stdout.on('data', onOutput);
    child.once('error', (error) => {
      if (!signal?.aborted) reject(error);
    });
    child.once('close', (code) => resolve({ code }));
  });
}
