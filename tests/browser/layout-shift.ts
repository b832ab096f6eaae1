import type { Page } from 'playwright-core';

/** Runs in the page, hence as text: this program has no DOM types. */
const watch = `
  window.shiftSum = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.shiftSum += entry.value;
  }).observe({ type: 'layout-shift' });
`;

/** Adds up layout shifts from now on, those after input too: while a text streams nothing may move. */
export async function watchShifts(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(watch);
  return () => page.evaluate<number>('window.shiftSum');
}
