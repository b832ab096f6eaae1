// `npm test`: installs what is missing, builds, typechecks and runs every test on ports and folders of its own.
// Arguments go on to vitest (`npm test -- tests/e2e`); --nightly also runs the tests that take long.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBundles, ensureWeb, root } from './build.mjs';
import { checkNode, ensurePackages } from './packages.mjs';
import { endWithChildren, run, tail } from './run.mjs';
import { report, StepError, step } from './steps.mjs';
import { findParts } from './suites.mjs';

const inCi = /^(1|true)$/i.test(process.env.CI ?? '');

/** A running Rookery and its settings are another one's: tests see none of them. */
function cleanEnvironment() {
  const kept = ['ROOKERY_NATS_SERVER'];
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !name.startsWith('ROOKERY_') || kept.includes(name) || name.startsWith('ROOKERY_TEST_'),
    ),
  );
  return { ...env, NO_COLOR: '1' };
}

async function obtainNats(say) {
  const code =
    "import { obtainServer } from '@rookery/nats';" +
    'const { path, origin } = await obtainServer(process.env, (text) => console.error(text));' +
    'console.log(JSON.stringify({ path, origin }));';
  say('looking for nats-server 2.15 or newer');
  const { code: exit, output } = await run(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '--eval', code],
    { cwd: join(root, 'infra') },
  );
  if (exit !== 0)
    throw new StepError(`nats-server could not be had:\n${tail(output)}`, 'Set ROOKERY_NATS_SERVER to one.');
  return JSON.parse(output.trim().split('\n').at(-1));
}

async function typecheck() {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  for (const program of ['tsconfig.json', 'apps/web']) {
    const { code, output } = await run(process.execPath, [tsc, '-p', program], { cwd: root });
    if (code !== 0) throw new StepError(`tsc -p ${program}:\n${tail(output, 40)}`, 'Mend the types.');
  }
  return 'no errors';
}

/** Runs vitest on one project and gives its report; a project that found no file counts as failed. */
async function runProject(project, filters, exclude, env, folder) {
  const file = join(folder, `${project}.json`);
  const args = [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--project',
    project,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${file}`,
    ...exclude.flatMap((pattern) => ['--exclude', pattern]),
    ...(filters.length > 0 ? ['--passWithNoTests'] : []),
    ...filters,
  ];
  const { code } = await run(process.execPath, args, { cwd: root, env, show: true });
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '{}';
  return { code, ...JSON.parse(text) };
}

const secondsOf = (ms) => `${(ms / 1000).toFixed(1)} s`;

function printSlowest(reports) {
  const tests = reports.flatMap(({ testResults = [] }) =>
    testResults.flatMap(({ name, assertionResults }) =>
      assertionResults.map(({ fullName, duration }) => ({ ms: duration ?? 0, file: name, fullName })),
    ),
  );
  tests.sort((a, b) => b.ms - a.ms);
  process.stdout.write('\nSlowest ten:\n');
  for (const { ms, file, fullName } of tests.slice(0, 10)) {
    process.stdout.write(`  ${secondsOf(ms).padStart(7)}  ${file.slice(root.length + 1)}  ${fullName}\n`);
  }
}

async function main(args) {
  const nightly = args.includes('--nightly');
  const filters = args.filter((arg) => arg !== '--nightly');
  checkNode();
  endWithChildren();
  await step('packages', (say) => ensurePackages(root, say));
  let nats;
  await step('nats-server', async (say) => {
    nats = await obtainNats(say);
    return `${nats.path} (${nats.origin})`;
  });
  await step('bundles', () => ensureBundles());
  await step('fault build', () => ensureBundles(true));
  await step('web', ensureWeb);
  await step('types', typecheck);

  const { found, missing: absent } = findParts();
  // What only the nightly tests need may be missing by day.
  const missing = absent.filter(({ suites }) => nightly || suites.some((suite) => !suite.includes('.nightly.')));
  const env = { ...cleanEnvironment(), ROOKERY_NATS_SERVER: nats.path };
  for (const { variable, path } of found) env[variable] = path;
  if (nightly) env.ROOKERY_TEST_NIGHTLY = '1';
  if (missing.length > 0 && inCi) {
    const lines = missing.map(({ name, get }) => `${name}: ${get}`);
    throw new StepError(`tests need parts that are missing here:\n${lines.join('\n')}`, 'In CI nothing is left out.');
  }
  const exclude = missing.flatMap(({ suites }) => suites);
  if (!nightly) exclude.push('tests/**/*.nightly.test.ts');
  const folder = mkdtempSync(join(tmpdir(), 'rookery-test-'));
  const reports = [];
  for (const project of ['unit', 'system']) {
    reports.push(await runProject(project, filters, exclude, env, folder));
  }
  rmSync(folder, { recursive: true, force: true });

  printSlowest(reports);
  const sum = (name) => reports.reduce((total, each) => total + (each[name] ?? 0), 0);
  const passed = sum('numPassedTests');
  const broken = reports.filter(({ code, numFailedTests = 0 }) => code !== 0 && numFailedTests === 0).length;
  const failed = sum('numFailedTests') + broken;
  if (broken > 0)
    process.stdout.write('\nA test file could not be run, or an error came outside of a test: see above.\n');
  process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
  for (const { name, suites, get } of missing) {
    process.stdout.write(`Not run: ${suites.join(', ')} (needs ${name}: ${get})\n`);
  }
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
}

main(process.argv.slice(2)).catch((error) => {
  report(error);
  process.stdout.write('\n0 passed, 1 failed\n');
  process.exitCode = 1;
});
