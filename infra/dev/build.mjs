// Bundles the programs into dist/ (and, with --fault, into dist-fault/ with the fault points defined in) and builds the
// page, each where a source changed since.
// Plain JavaScript, so that `npm start` can call it before anything is compiled.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run, tail } from './run.mjs';
import { readStamp, stampOf, writeStamp } from './stamp.mjs';
import { report, StepError, step } from './steps.mjs';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

const services = ['gateway', 'agent', 'tool-runner', 'memory', 'channels'];

/** Name of each bundle and the source that it starts from. */
export const entries = {
  ...Object.fromEntries(services.map((name) => [name, `apps/${name}/src/main.ts`])),
  'projector-worker': 'libs/read-model/src/projector-worker.ts',
  'one-process': 'infra/supervisor/one-process.ts',
  supervise: 'infra/supervisor/supervise.ts',
  provision: 'infra/supervisor/provision.ts',
  docker: 'infra/docker/main.ts',
  cli: 'apps/cli/src/main.ts',
};

const bundleSources = ['package-lock.json', 'protocol/src', 'libs', 'apps', 'infra'];
const webSources = ['package-lock.json', 'protocol/src', 'apps/web'];

export const distFolder = (fault) => join(root, fault ? 'dist-fault' : 'dist');
const bundleStamp = (fault) => join(distFolder(fault), '.stamp');
const webStamp = join(root, 'dist', '.stamp-web');

export function bundlesAreFresh(fault = false) {
  return readStamp(bundleStamp(fault)) === stampOf(root, bundleSources);
}

export function webIsFresh() {
  return readStamp(webStamp) === stampOf(root, webSources) && existsSync(join(root, 'apps/web/dist/index.html'));
}

// Bundled CommonJS packages expect these three.
const banner = [
  "import { createRequire as __createRequire } from 'node:module';",
  "import { fileURLToPath as __toPath } from 'node:url';",
  'const require = __createRequire(import.meta.url);',
  'const __filename = __toPath(import.meta.url);',
  "const __dirname = __toPath(new URL('.', import.meta.url));",
].join('\n');

/** Keeps out of a bundle what it does not use: each process pays for its own parts only. */
const lean = {
  name: 'lean',
  setup(build) {
    const own = (path) => path.startsWith(`${root}/`) && !path.includes('/node_modules/');
    // Our modules do nothing when they are merely imported, so one that nothing is taken from is left out.
    build.onResolve({ filter: /^\.\.?\// }, ({ path, importer, kind }) => {
      const target = resolve(dirname(importer), path);
      return kind === 'import-statement' && own(target) ? { path: target, sideEffects: false } : undefined;
    });
    build.onResolve({ filter: /^@rookery\// }, async ({ path, resolveDir, kind, pluginData }) => {
      if (pluginData === 'resolved') return undefined;
      const result = await build.resolve(path, { resolveDir, kind, pluginData: 'resolved' });
      return result.errors.length > 0 ? { errors: result.errors } : { path: result.path, sideEffects: false };
    });
    // zod brings its messages in fifty languages.
    build.onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};

/** Builds the bundles and gives the names of those whose text changed. Files are replaced whole, never half written. */
export async function buildBundles(fault = false) {
  const stamp = stampOf(root, bundleSources);
  const { build } = await import('esbuild');
  const result = await build({
    absWorkingDir: root,
    entryPoints: entries,
    outdir: distFolder(fault),
    outExtension: { '.js': '.mjs' },
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Names in stack traces stay; only white space and dead branches go.
    minifyWhitespace: false,
    keepNames: true,
    legalComments: 'none',
    plugins: [lean],
    external: ['better-sqlite3'],
    define: { __FAULTS__: String(fault) },
    banner: { js: banner },
    logLevel: 'silent',
  });
  mkdirSync(distFolder(fault), { recursive: true });
  const changed = [];
  for (const file of result.outputFiles) {
    const name = file.path.slice(distFolder(fault).length + 1).replace(/\.mjs$/, '');
    const old = existsSync(file.path) ? readFileSync(file.path) : null;
    if (old?.equals(file.contents)) continue;
    const part = `${file.path}.${process.pid}.part`;
    writeFileSync(part, file.contents);
    renameSync(part, file.path);
    changed.push(name);
  }
  writeStamp(bundleStamp(fault), stamp);
  return changed;
}

/** Builds the web client into apps/web/dist. */
export async function buildWeb() {
  const stamp = stampOf(root, webSources);
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  const { code, output } = await run(process.execPath, [vite, 'build', '--logLevel', 'warn'], {
    env: { ...process.env, NO_COLOR: '1' },
    cwd: join(root, 'apps/web'),
  });
  if (code !== 0) throw new StepError(`vite build failed:\n${tail(output)}`, 'Mend the page, then start again.');
  writeStamp(webStamp, stamp);
}

/** The same in a process of its own, so that a long-lived caller does not keep the builder in memory. */
export async function buildInChild(args) {
  const { code, output } = await run(process.execPath, [fileURLToPath(import.meta.url), '--json', ...args]);
  const line = output.trim().split('\n').at(-1) ?? '';
  if (code !== 0) throw new StepError(`the build failed:\n${tail(output, 30)}`, 'Mend the source, then start again.');
  return JSON.parse(line).changed;
}

/** Builds the bundles where a source changed since; says what it did. */
export async function ensureBundles(fault = false) {
  if (bundlesAreFresh(fault)) return 'up to date';
  return `built (${(await buildInChild(fault ? ['--fault'] : [])).length} changed)`;
}

/** Builds the page where a source changed since; says what it did. */
export async function ensureWeb() {
  if (webIsFresh()) return 'up to date';
  await buildInChild(['--web']);
  return 'built';
}

async function main(args) {
  const has = (flag) => args.includes(flag);
  if (has('--json')) {
    if (has('--web')) await buildWeb();
    const changed = has('--web') ? ['web'] : await buildBundles(has('--fault'));
    process.stdout.write(`${JSON.stringify({ changed })}\n`);
    return;
  }
  await step('bundles', () => ensureBundles());
  if (has('--fault')) await step('fault build', () => ensureBundles(true));
  await step('web', ensureWeb);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  main(process.argv.slice(2)).catch((error) => {
    report(error);
    process.exitCode = 1;
  });
}
