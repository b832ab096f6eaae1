/** Replaced by the bundler: true only in bundles that are built for fault tests. */
declare const __FAULTS__: boolean | undefined;

const enabled = typeof __FAULTS__ !== 'undefined' && __FAULTS__;

/**
 * A named place where a fault test may end the process (`FAULT=agent:after-append`, optionally `@n` for the n-th
 * passage). In every other build it does nothing.
 */
export function faultPoint(name: string): void {
  if (!enabled) return;
  const [wanted, nth = '1'] = (process.env.FAULT ?? '').split('@');
  if (wanted !== name) return;
  passages += 1;
  if (passages === Number(nth)) process.kill(process.pid, 'SIGKILL');
}
let passages = 0;
