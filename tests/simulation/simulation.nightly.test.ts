import { chooseSeed } from '@rookery/testkit';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadSimulation } from './bundle.ts';
import { expectNoFailure } from './judge.ts';
import type { simulate } from './simulate.ts';

const SLICE = 1000;
const SLICES = 20;
/** Seeds that no night has seen; ROOKERY_SEED names the first one, to go on where a night was broken off. */
const first = chooseSeed();

describe(`20,000 seeds from ${first} on`, () => {
  let run: typeof simulate;
  beforeAll(async () => {
    run = await loadSimulation('nightly');
    expect(run).toBeTypeOf('function');
  }, 120_000);

  it.each(Array.from({ length: SLICES }, (_, slice) => first + slice * SLICE))(
    'keeps every promise in a thousand from %i on',
    (from) => expectNoFailure(run, from, SLICE),
    600_000,
  );
});
