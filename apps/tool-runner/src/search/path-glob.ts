import picomatch from 'picomatch';
import { ToolFailure } from '../tool-call.ts';

/**
 * Compiles a glob for paths relative to the search folder; one without a slash matches names at any depth. Fails with
 * invalid_pattern for a glob that leads out of the folder.
 */
export function pathGlob(glob: string): (path: string) => boolean {
  if (glob.startsWith('/') || glob.startsWith('~') || glob.split('/').includes('..') || glob.includes('\0')) {
    throw new ToolFailure('invalid_pattern', 'The pattern must stay inside the folder; give the folder as path.');
  }
  try {
    return picomatch(glob.replace(/^(\.\/)+/, ''), { dot: true, basename: !glob.includes('/') });
  } catch (error) {
    throw new ToolFailure('invalid_pattern', 'The pattern cannot be understood.', error);
  }
}
