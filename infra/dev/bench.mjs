// `npm run bench`: installs what is missing, builds, and hands over to the benchmark in tests/bench.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ensureBundles, ensureWeb, root } from './build.mjs';
import { checkNode, ensurePackages } from './packages.mjs';
import { report } from './steps.mjs';

async function main(args) {
  checkNode();
  await ensurePackages(root, (text) => process.stderr.write(`${text}\n`));
  await ensureBundles();
  await ensureWeb();
  const entry = join(root, 'tests/bench/main.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', entry, ...args], { cwd: root, stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  child.once('exit', (code) => process.exit(code ?? 1));
}

main(process.argv.slice(2)).catch((error) => {
  report(error);
  process.exitCode = 1;
});
