import { expect, it } from 'vitest';
import { loadSimulation } from './bundle.ts';
import { keepSeed } from './judge.ts';
import { sourceFaults } from './source-faults.ts';

/** Plays one seed again: `ROOKERY_SEED=7`, with `ROOKERY_SIMULATION_FAULT` the name of a deliberate fault. */
const seed = Number(process.env.ROOKERY_SEED ?? 1);
const fault = process.env.ROOKERY_SIMULATION_FAULT;

it(`seed ${seed} breaks nothing`, async () => {
  const changes = fault === undefined ? [] : (sourceFaults.find(({ name }) => name === fault)?.changes ?? []);
  const run = await loadSimulation(`replay-${fault ?? 'plain'}`, changes);
  const report = await run(seed);
  if (report.violations.length > 0) process.stdout.write(`kept in ${await keepSeed(run, report, fault)}\n`);
  expect(report.violations).toEqual([]);
}, 120_000);
