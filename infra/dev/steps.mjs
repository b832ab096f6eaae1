// Plain JavaScript: this runs before any package is installed.

const seconds = (ms) => `${(ms / 1000).toFixed(ms < 9950 ? 2 : 1)} s`;

/** An error whose text says what a person can do about it; printed without a stack. */
export class StepError extends Error {
  constructor(message, advice) {
    super(message);
    this.name = 'StepError';
    this.advice = advice;
  }
}

/** Runs a step and prints one line with its name, what it did and its time. */
export async function step(name, work) {
  const started = performance.now();
  const line = (text) =>
    process.stdout.write(`  ${name.padEnd(12)} ${text.padEnd(40)} ${seconds(performance.now() - started)}\n`);
  const say = (text) => process.stdout.write(`  ${name.padEnd(12)} ${text} …\n`);
  try {
    const text = await work(say);
    line(typeof text === 'string' ? text : 'done');
  } catch (error) {
    line(error?.stopped === true ? 'stopped' : 'FAILED');
    throw error;
  }
}

/** Prints why a command ended and what to do. */
export function report(error) {
  const text = error instanceof Error ? error.message : String(error);
  const code = typeof error?.code === 'string' ? `${error.code}: ` : '';
  process.stderr.write(`\n${code}${text}\n`);
  if (typeof error?.advice === 'string') process.stderr.write(`${error.advice}\n`);
  if (process.env.ROOKERY_LOG === 'debug' && error instanceof Error) process.stderr.write(`${error.stack}\n`);
}
