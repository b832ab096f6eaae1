import { PatternWorker } from './pattern-worker.ts';
import type { LineMatcher } from './ripgrep.ts';

/**
 * Matches lines without ripgrep, with the same results for UTF-8 files up to 16 MiB; larger ones are passed over.
 * Fails with invalid_pattern for what is no regular expression and, when it matches, for one that takes too long.
 */
export function ownMatcher(pattern: string, ignoreCase: boolean, limit: number): LineMatcher {
  const worker = new PatternWorker(pattern, ignoreCase ? 'iv' : 'v');
  return {
    match: (root, files, signal) => worker.matchLines(root, files, limit, signal),
    close: () => worker.close(),
  };
}
