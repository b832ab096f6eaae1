// `npm start`: everything, from a fresh clone to a running house. Plain JavaScript up to the point where the
// packages are installed and the supervisor is bundled; then the supervisor's bundle goes on in this process.
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildInChild, bundlesAreFresh, distFolder, ensureBundles, ensureWeb, root } from './build.mjs';
import { checkNode, ensurePackages } from './packages.mjs';
import { endWithChildren } from './run.mjs';
import { report, StepError, step } from './steps.mjs';

const usage = `npm start [-- OPTIONS]
  --one-process   run the five services in one process
  --watch         rebuild and restart on change (npm run dev)
  --faults        run the bundles with fault points, for fault tests
Settings are environment variables; the README lists them.`;

function parseArguments(args) {
  const known = new Set(['--one-process', '--watch', '--faults']);
  const unknown = args.find((arg) => !known.has(arg));
  if (unknown === '--help' || unknown === '-h') {
    process.stdout.write(`${usage}\n`);
    process.exit(0);
  }
  if (unknown !== undefined) throw new StepError(`There is no option ${unknown}.`, usage);
  const has = (option) => args.includes(option);
  return { oneProcess: has('--one-process'), watch: has('--watch'), faults: has('--faults') };
}

export async function start(args) {
  const { oneProcess, watch, faults } = parseArguments(args);
  checkNode();
  const dispose = endWithChildren();
  process.stdout.write('Rookery\n\n');
  await step('packages', (say) => ensurePackages(root, say));
  await step('bundles', () => ensureBundles(faults));
  await step('web', ensureWeb);
  const dist = distFolder(faults);
  const { supervise } = await import(pathToFileURL(join(dist, 'supervise.mjs')).href);
  const rebuild = async (web) => {
    if (web) await buildInChild(['--web']);
    return bundlesAreFresh(faults) ? [] : buildInChild(faults ? ['--fault'] : []);
  };
  // From here on the supervisor hears the signals.
  dispose();
  await supervise({ root, dist, oneProcess, watch, env: process.env, step, rebuild });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  start(process.argv.slice(2)).then(
    () => process.exit(0),
    (error) => {
      report(error);
      process.exit(1);
    },
  );
}
