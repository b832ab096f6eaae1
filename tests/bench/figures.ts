/** One measured figure; `goal` is what it should be, in words that `holds` judges. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  goal: string | null;
  holds: boolean | null;
}

/** Prints a figure as a line of JSON; `limit` makes the goal. */
export function print(
  name: string,
  value: number,
  unit: string,
  limit: { under: number } | { atLeast: number } | { goal: string; holds: boolean } | null,
): Figure {
  const rounded = Math.round(value * 1000) / 1000;
  const figure: Figure = { name, value: rounded, unit, goal: null, holds: null };
  if (limit !== null && 'under' in limit)
    Object.assign(figure, { goal: `< ${limit.under}`, holds: value < limit.under });
  if (limit !== null && 'atLeast' in limit)
    Object.assign(figure, { goal: `>= ${limit.atLeast}`, holds: value >= limit.atLeast });
  if (limit !== null && 'goal' in limit) Object.assign(figure, limit);
  process.stdout.write(`${JSON.stringify(figure)}\n`);
  return figure;
}

/** The value at a share (0..1) of the sorted values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}
