import { basename } from 'node:path';
import picomatch from 'picomatch';
import { ToolFailure } from '../tool-call.ts';
import { PatternWorker } from './pattern-worker.ts';

/** A glob for paths relative to the search folder. Close it after the last question. */
export interface PathGlob {
  /** Those of the paths that match, in their order. Fails with invalid_pattern for a glob that takes too long. */
  filter(paths: readonly string[], signal: AbortSignal): Promise<string[]>;
  close(): void;
}

/**
 * Compiles a glob; one without a slash matches names at any depth. Fails with invalid_pattern for a glob that leads out
 * of the folder. It becomes a regular expression, which a few stars make slow: it is matched in a thread of its own.
 */
export function pathGlob(glob: string): PathGlob {
  if (glob.startsWith('/') || glob.startsWith('~') || glob.split('/').includes('..') || glob.includes('\0')) {
    throw new ToolFailure('invalid_pattern', 'The pattern must stay inside the folder; give the folder as path.');
  }
  const anywhere = !glob.includes('/');
  const plain = glob.replace(/^(\.\/)+/, '');
  const { source, flags } = expressionOf(plain, anywhere);
  const worker = new PatternWorker(source, flags);
  return {
    filter: async (paths, signal) => {
      const texts = anywhere ? paths.map((path) => basename(path)) : paths;
      const found = new Set(await worker.matchTexts(texts, signal));
      return paths.filter((path, index) => found.has(index) || path === plain);
    },
    close: () => worker.close(),
  };
}

function expressionOf(glob: string, anywhere: boolean): RegExp {
  try {
    return picomatch.makeRe(glob, { dot: true, basename: anywhere });
  } catch (error) {
    throw new ToolFailure('invalid_pattern', 'The pattern cannot be understood.', error);
  }
}
