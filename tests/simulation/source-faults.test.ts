import { expect, it } from 'vitest';
import { loadSimulation } from './bundle.ts';
import { firstFailure } from './judge.ts';
import { sourceFaults } from './source-faults.ts';

const SEEDS = 500;

it.each(sourceFaults)(
  'finds $name: $breaks',
  async ({ name, changes }) => {
    const run = await loadSimulation(name, changes);
    const failed = await firstFailure(run, 1, SEEDS);
    expect(failed, `${name} is not found within ${SEEDS} seeds`).not.toBeNull();
    process.stdout.write(
      `${name}: seed ${failed?.seed}, ${[...new Set(failed?.violations.map(({ rule }) => rule))].join(', ')}\n`,
    );
  },
  600_000,
);
