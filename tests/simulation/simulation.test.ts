import { beforeAll, describe, expect, it } from 'vitest';
import { loadSimulation } from './bundle.ts';
import { expectNoFailure } from './judge.ts';
import type { simulate } from './simulate.ts';

const SEEDS = 500;

/** Seeds that broke a promise while the simulator was made; what they found stays as faults in `source-faults.ts`. */
const found = [4, 9, 12, 36, 66, 70, 113, 226, 410, 10_575];

describe('agents, read models, appends and tool calls over a journal that misbehaves', () => {
  let run: typeof simulate;
  beforeAll(async () => {
    run = await loadSimulation('plain');
  }, 120_000);

  it('give the same trace for the same seed, whatever ran before', async () => {
    const digests = async (seeds: readonly number[]) => {
      const out = new Map<number, string>();
      for (const seed of seeds) out.set(seed, (await run(seed)).digest);
      return out;
    };
    const there = await digests(found);
    const back = await digests(found.toReversed());
    expect(Object.fromEntries(back)).toEqual(Object.fromEntries(there));
    expect(new Set(there.values()).size).toBe(found.length);
  }, 120_000);

  it(`keep every promise in ${SEEDS} seeds`, () => expectNoFailure(run, 1, SEEDS), 600_000);
});
