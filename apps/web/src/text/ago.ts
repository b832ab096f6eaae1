const STEPS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];
const WEEK_MS = 7 * 86_400_000;

/** How long ago a time was, short and in a language: "5 min. ago"; a date after a week; null under a minute. */
export function formatAgo(time: string, now: number, language: string): string | null {
  const age = now - Date.parse(time);
  if (age >= WEEK_MS) {
    return new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short' }).format(Date.parse(time));
  }
  const step = STEPS.find(([, size]) => age >= size);
  if (!step) return null;
  const format = new Intl.RelativeTimeFormat(language, { style: 'narrow', numeric: 'always' });
  return format.format(-Math.floor(age / step[1]), step[0]);
}
