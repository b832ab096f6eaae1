import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import type { simulate } from './simulate.ts';

/** A deliberate fault: a text of a source file that is replaced while the simulation is bundled. */
export interface SourceChange {
  /** Path from the root of the repository. */
  file: string;
  find: string;
  replace: string;
}

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, '../..');
/** Below node_modules, so that the packages that stay outside of the bundle are found from there. */
const folder = join(root, 'node_modules', '.cache', 'simulation');

// Bundled CommonJS packages expect these three.
const banner = [
  "import { createRequire as __createRequire } from 'node:module';",
  "import { fileURLToPath as __toPath } from 'node:url';",
  'const require = __createRequire(import.meta.url);',
  'const __filename = __toPath(import.meta.url);',
  "const __dirname = __toPath(new URL('.', import.meta.url));",
].join('\n');

/** What stands in for `node:timers/promises`: the timers of the moment of the call, which may be virtual. */
const timers = `
export function setTimeout(ms, value, options) {
  return new Promise((resolve, reject) => {
    const signal = options?.signal;
    const abort = () => { globalThis.clearTimeout(timer); reject(signal.reason); };
    const timer = globalThis.setTimeout(() => { signal?.removeEventListener('abort', abort); resolve(value); }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}`;

const virtualTimers: Plugin = {
  name: 'virtual-timers',
  setup(setup) {
    setup.onResolve({ filter: /^node:timers\/promises$/ }, () => ({ path: 'timers', namespace: 'virtual' }));
    setup.onLoad({ filter: /.*/, namespace: 'virtual' }, () => ({ contents: timers, loader: 'js' }));
  },
};

const changed = (changes: readonly SourceChange[]): Plugin => ({
  name: 'source-changes',
  setup(setup) {
    for (const path of new Set(changes.map(({ file }) => join(root, file)))) {
      const filter = new RegExp(`^${path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`);
      setup.onLoad({ filter }, () => {
        let contents = readFileSync(path, 'utf8');
        for (const { file, find, replace } of changes) {
          if (join(root, file) !== path) continue;
          if (contents.split(find).length !== 2) throw new Error(`${file} does not hold this once:\n${find}`);
          contents = contents.replace(find, () => replace);
        }
        return { contents, loader: 'ts' };
      });
    }
  },
});

/** Bundles the simulation with the sources as they are, or with deliberate faults in them, and loads it. */
export async function loadSimulation(name: string, changes: readonly SourceChange[] = []): Promise<typeof simulate> {
  await mkdir(folder, { recursive: true });
  const outfile = join(folder, `${name}-${process.pid}.mjs`);
  await build({
    absWorkingDir: root,
    entryPoints: [join(here, 'simulate.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    plugins: [virtualTimers, changed(changes)],
    external: ['better-sqlite3', '@lydell/node-pty'],
    banner: { js: banner },
    logLevel: 'silent',
  });
  const loaded = (await import(pathToFileURL(outfile).href)) as { simulate: typeof simulate };
  return loaded.simulate;
}
