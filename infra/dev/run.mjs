// Plain JavaScript: this runs before any package is installed.
import { spawn } from 'node:child_process';

const running = new Set();

/** Until it is disposed, a signal to end this process also ends what it runs; without it a child would go on alone. */
export function endWithChildren() {
  const end = (signal) => {
    for (const child of running) child.kill(signal);
    process.exit(signal === 'SIGINT' ? 130 : 143);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, end);
  return () => {
    for (const signal of signals) process.off(signal, end);
  };
}

/** Runs a program, keeps its output and gives { code, output, ms }; `show` also passes it on to the terminal. */
export function run(command, args, { cwd, env, show = false, keep = 200_000 } = {}) {
  const started = performance.now();
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env: env ?? process.env, stdio: ['ignore', 'pipe', 'pipe'] });
    running.add(child);
    let output = '';
    const take = (target) => (chunk) => {
      output = (output + chunk).slice(-keep);
      if (show) target.write(chunk);
    };
    child.stdout.setEncoding('utf8').on('data', take(process.stdout));
    child.stderr.setEncoding('utf8').on('data', take(process.stderr));
    const done = (code, text) => {
      running.delete(child);
      resolve({ code, output: text, ms: performance.now() - started });
    };
    child.once('error', (error) => done(127, String(error)));
    child.once('close', (code) => done(code ?? 1, output));
  });
}

/** The last lines of an output, for a message. */
export function tail(output, lines = 12) {
  return output.trimEnd().split('\n').slice(-lines).join('\n');
}
