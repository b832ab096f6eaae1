import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { outcomes, type PageHouse, START_MS, say, startPageHouse, TEST_MS, textOf } from './page-house.ts';

let house: PageHouse;

beforeAll(async () => {
  house = await startPageHouse('demo');
}, START_MS);
afterAll(() => house?.stop());

describe('a turn with the demo provider', { timeout: TEST_MS }, () => {
  it('shows the tool call with its arguments and its real result, and the answer', async () => {
    const page = await house.open();
    await say(page, 'run: echo from-the-$((40+2))nd-shell');
    expect(await outcomes(page, 1)).toEqual(['completed']);

    expect(await textOf(page.locator('.bubble'))).toBe('run: echo from-the-$((40+2))nd-shell');
    const card = page.locator('[data-tool=process_start]').first();
    expect(await card.getAttribute('data-status')).toBe('completed');
    expect(await textOf(card.locator('.tool-summary'))).toBe('echo from-the-$((40+2))nd-shell');
    expect(await textOf(card.locator('.tool-time'))).toMatch(/^[\d.]+ (ms|s)$/);
    await card.locator('.tool-head').click();
    await card.locator('.arguments').waitFor();
    expect(await textOf(page.locator('.answer').last())).toContain('from-the-42nd-shell');
  });

  it('is there again after a reload, with what was being written', async () => {
    const page = await house.open();
    await say(page, 'write first light to notes.txt');
    await outcomes(page, 1);
    await say(page, 'read notes.txt');
    expect(await outcomes(page, 2)).toEqual(['completed', 'completed']);
    await page.fill('#composer', 'half a sentence');
    const before = await textOf(page.locator('.turns'));

    await page.reload();
    await outcomes(page, 2);
    expect(withoutFacts(await textOf(page.locator('.turns')))).toBe(withoutFacts(before));
    expect(await page.inputValue('#composer')).toBe('half a sentence');
    expect(await textOf(page.locator('[data-tool=read] .tool-summary'))).toBe('notes.txt');
    expect(await textOf(page.locator('.answer').last())).toContain('first light');
  });
});

/** Token counts come with live events only. */
function withoutFacts(text: string): string {
  return text.replace(/ · \d+ tokens/g, '');
}
