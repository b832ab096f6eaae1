// Plain JavaScript: this runs before any package is installed.
import { spawn } from 'node:child_process';

/** Runs a program, keeps its output and gives { code, output, ms }; `show` also passes it on to the terminal. */
export function run(command, args, { cwd, env, show = false, keep = 200_000 } = {}) {
  const started = performance.now();
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env: env ?? process.env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const take = (target) => (chunk) => {
      output = (output + chunk).slice(-keep);
      if (show) target.write(chunk);
    };
    child.stdout.setEncoding('utf8').on('data', take(process.stdout));
    child.stderr.setEncoding('utf8').on('data', take(process.stderr));
    child.once('error', (error) => resolve({ code: 127, output: String(error), ms: performance.now() - started }));
    child.once('close', (code) => resolve({ code: code ?? 1, output, ms: performance.now() - started }));
  });
}

/** The last lines of an output, for a message. */
export function tail(output, lines = 12) {
  return output.trimEnd().split('\n').slice(-lines).join('\n');
}
