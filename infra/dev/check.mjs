// `npm run check`: format, lint, boundaries, types, generated files and pure tests, side by side, in under 15 s.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { root } from './build.mjs';
import { checkNode, ensurePackages } from './packages.mjs';
import { endWithChildren, run } from './run.mjs';
import { report } from './steps.mjs';

const bin = (name) => join(root, 'node_modules', '.bin', name);
const typescript = ['--import', 'tsx'];
// What the last check found of files that are the same still, by their content; `npm ci` removes it.
const cache = (name) => join(root, 'node_modules', '.cache', name);
const types = (project, name) => [
  join(root, 'node_modules/typescript/bin/tsc'),
  ...['-p', project, '--incremental', '--tsBuildInfoFile', cache(`${name}.tsbuildinfo`)],
];

// Folders whose unit tests start no process and no server; `npm test` runs all of them.
const pure = [
  ...['protocol', 'libs/kernel', 'libs/journal', 'libs/bus', 'libs/secrets', 'libs/sandbox'],
  ...['apps/agent', 'apps/gateway', 'apps/web', 'apps/cli', 'apps/memory', 'apps/channels', 'infra/dev'],
  // Recorded journals are folded on every change.
  'libs/read-model/src/histories',
];

const checks = [
  ['types', process.execPath, types('tsconfig.json', 'types')],
  [
    'pure tests',
    bin('vitest'),
    [
      ...['run', '--project', 'unit', '--no-isolate', '--reporter=dot', '--silent=true'],
      ...['--experimental.fsModuleCache', `--experimental.fsModuleCachePath=${cache('vitest')}`],
      ...pure,
    ],
  ],
  [
    'lint: promises',
    bin('oxlint'),
    ['--type-aware', '--config', 'infra/dev/oxlint.json', 'protocol', 'libs', 'apps', 'infra', 'tests'],
  ],
  ['format, lint', bin('biome'), ['check', '--max-diagnostics=20', '--colors=off']],
  ['types of web', process.execPath, types('apps/web', 'types-of-web')],
  ['boundaries', process.execPath, [...typescript, 'infra/dev/boundaries.ts']],
  ['generated', process.execPath, [...typescript, 'protocol/scripts/generate.ts', '--check']],
];

async function main() {
  checkNode();
  endWithChildren();
  await ensurePackages(root, (text) => process.stdout.write(`${text}\n`));
  const started = performance.now();
  const failed = [];
  const waiting = [...checks];
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [name, command, args] = next;
      const { code, output, ms } = await run(command, args, { cwd: root, env: { ...process.env, NO_COLOR: '1' } });
      process.stdout.write(`  ${code === 0 ? 'ok    ' : 'FAILED'}  ${name.padEnd(16)} ${(ms / 1000).toFixed(1)} s\n`);
      if (code !== 0) failed.push([name, output]);
    }
  };
  await Promise.all(Array.from({ length: Math.min(3, availableParallelism()) }, worker));
  for (const [name, output] of failed) process.stdout.write(`\n--- ${name}\n${output.trim()}\n`);
  process.stdout.write(`\n${checks.length - failed.length} of ${checks.length} checks passed in `);
  process.stdout.write(`${((performance.now() - started) / 1000).toFixed(1)} s\n`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}

main().catch((error) => {
  report(error);
  process.exitCode = 1;
});
