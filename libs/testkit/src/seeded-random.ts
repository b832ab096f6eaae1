export interface SeededRandom {
  seed: number;
  /** 0 <= value < 1. */
  next(): number;
  /** An integer of min..max, both included. */
  integer(min: number, max: number): number;
  pick<T>(list: readonly T[]): T;
  shuffle<T>(list: readonly T[]): T[];
}

/** A small deterministic generator (mulberry32): the same seed gives the same choices. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const integer = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  const pick = <T>(list: readonly T[]): T => {
    if (list.length === 0) throw new RangeError('nothing to pick from');
    return list[integer(0, list.length - 1)] as T;
  };
  const shuffle = <T>(list: readonly T[]): T[] => {
    const out = [...list];
    for (let last = out.length - 1; last > 0; last -= 1) {
      const other = integer(0, last);
      const moved = out[last] as T;
      out[last] = out[other] as T;
      out[other] = moved;
    }
    return out;
  };
  return { seed, next, integer, pick, shuffle };
}

/** The seed that ROOKERY_SEED names, else a new one; tests print it when they fail. */
export function chooseSeed(): number {
  const named = Number(process.env.ROOKERY_SEED);
  return Number.isSafeInteger(named) && named > 0 ? named : 1 + Math.floor(Math.random() * 2 ** 31);
}
