import { expect, it } from 'vitest';
import { loadSimulation } from './bundle.ts';
import { firstFailure } from './judge.ts';
import { sourceFaults } from './source-faults.ts';

const SEEDS = 500;

it.each(sourceFaults)(
  'the rule $by finds $name: $breaks',
  async ({ name, changes, by }) => {
    const run = await loadSimulation(name, changes);
    const failed = await firstFailure(run, 1, SEEDS, by);
    expect(failed, `${name} is not found by ${by} within ${SEEDS} seeds`).not.toBeNull();
  },
  600_000,
);
