import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SimulationReport, simulate } from './simulate.ts';

type Simulate = typeof simulate;

/** Where failing seeds are kept; not in git. */
const kept = join(resolve(dirname(fileURLToPath(import.meta.url)), '../..'), '.simulation');

/** The one line that plays a seed again. */
export function replayLine(seed: number, fault?: string): string {
  const named = fault === undefined ? '' : ` ROOKERY_SIMULATION_FAULT=${fault}`;
  return `ROOKERY_SEED=${seed}${named} npx vitest run --project system tests/simulation/replay.test.ts`;
}

/** Plays a seed again with its trace and keeps all of it as a file; the digest must be the same. */
export async function keepSeed(run: Simulate, failed: SimulationReport, fault?: string): Promise<string> {
  const { seed } = failed;
  const again = await run(seed, { keepTrace: true });
  if (again.digest !== failed.digest) throw new Error(`seed ${seed} does not give the same trace twice`);
  mkdirSync(kept, { recursive: true });
  const path = join(kept, `seed-${seed}${fault === undefined ? '' : `-${fault}`}.txt`);
  const { violations, weather, facts, digest, trace } = again;
  const head = { replay: replayLine(seed, fault), violations, weather, facts, digest };
  writeFileSync(path, `${JSON.stringify(head, null, 2)}\n\n${trace.join('\n')}\n`);
  return path;
}

/** Gives way to what else the process has to do: a simulation leaves it no time by itself. */
const breathe = () => new Promise((resolve) => setImmediate(resolve));

/** Plays seeds until one of them breaks a promise (the one that is named); that report, or null where none does. */
export async function firstFailure(
  run: Simulate,
  from: number,
  count: number,
  rule?: string,
): Promise<SimulationReport | null> {
  for (let seed = from; seed < from + count; seed += 1) {
    const report = await run(seed);
    await breathe();
    const broken = report.violations.filter((violation) => rule === undefined || violation.rule === rule);
    if (broken.length > 0) return report;
  }
  return null;
}

/** Fails with everything that a person needs to look into a seed that broke a promise. */
export async function expectNoFailure(run: Simulate, from: number, count: number): Promise<void> {
  const failed = await firstFailure(run, from, count);
  if (failed === null) return;
  const path = await keepSeed(run, failed);
  const lines = failed.violations.slice(0, 10).map(({ rule, detail }) => `  ${rule}: ${detail}`);
  throw new Error(
    `seed ${failed.seed} breaks:\n${lines.join('\n')}\nkept in ${path}\nreplay: ${replayLine(failed.seed)}`,
  );
}
