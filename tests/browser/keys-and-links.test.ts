import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { directed, outcomes, type PageHouse, START_MS, say, startPageHouse, TEST_MS, textOf } from './page-house.ts';

const NARROW = { width: 390, height: 780 };

let house: PageHouse;

beforeAll(async () => {
  house = await startPageHouse('scripted');
}, START_MS);
afterAll(() => house?.stop());

/** A page whose run goes on until it is stopped. */
async function openAtWork(): Promise<Page> {
  const page = await house.open();
  await say(page, directed('long', { text: 'word '.repeat(900), deltas: 900, delayMs: 50 }));
  await page.locator('.answer', { hasText: 'word word' }).waitFor();
  return page;
}

/** True where the page asked for the run to be stopped: the button says so at once. */
const stopping = (page: Page) => page.locator('.stop').isDisabled();
const focused = (page: Page) => page.evaluate<string>('document.activeElement.id');

describe('Escape', { timeout: TEST_MS }, () => {
  it('clears the filter, then leaves it, and only then stops the run', async () => {
    const page = await openAtWork();
    await page.keyboard.press('Control+k');
    await page.waitForSelector('#thread-filter:focus');
    await page.keyboard.type('nothing like it');
    await page.keyboard.press('Escape');
    expect(await page.inputValue('#thread-filter')).toBe('');
    expect(await stopping(page)).toBe(false);
    await page.keyboard.press('Escape');
    expect(await focused(page)).toBe('composer');
    expect(await stopping(page)).toBe(false);
    await page.keyboard.press('Escape');
    expect(await outcomes(page, 1)).toEqual(['cancelled']);
  });

  it('closes the drawer or a dialog without stopping the run', async () => {
    const page = await openAtWork();
    await page.setViewportSize(NARROW);
    await page.click('.pane-head .icon-button');
    await page.waitForSelector('.sidebar.open');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.sidebar:not(.open)', { state: 'attached' });
    expect(await stopping(page)).toBe(false);
    await page.keyboard.press('Control+k');
    await page.waitForSelector('#thread-filter:focus');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.sidebar:not(.open)', { state: 'attached' });
    expect(await stopping(page)).toBe(false);
    await page.keyboard.press('Alt+n');
    await page.waitForSelector('dialog[open]');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog[open]', { state: 'detached' });
    expect(await stopping(page)).toBe(false);
    await page.press('#composer', 'Escape');
    expect(await outcomes(page, 1)).toEqual(['cancelled']);
  });
});

describe('a dialog', { timeout: TEST_MS }, () => {
  it('stays open when a selection is dragged out of a field, and closes at a click beside it', async () => {
    const page = await house.open();
    await page.keyboard.press('Alt+n');
    const field = page.locator('dialog input').first();
    await field.fill('a title to select');
    const box = await field.boundingBox();
    if (!box) throw new Error('the field is not shown');
    await page.mouse.move(box.x + 60, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(5, box.y + box.height / 2, { steps: 4 });
    await page.mouse.up();
    expect(await field.inputValue()).toBe('a title to select');
    await page.mouse.click(5, 5);
    await page.waitForSelector('dialog[open]', { state: 'detached' });
  });
});

describe('the list of archived threads', { timeout: TEST_MS }, () => {
  it('goes on beyond its first hundred', async () => {
    const client = await house.rookery.client();
    for (let n = 0; n < 101; n += 1) {
      const { thread } = await client.request<{ thread: { id: string } }>('thread.create', { title: `old ${n}` });
      await client.request('thread.archive', { threadId: thread.id });
    }
    await client.close();
    const page = await house.open();
    await page.click('.archived > .side-button');
    const rows = page.locator('.archived-list .thread-row');
    await rows.nth(99).waitFor({ state: 'attached' });
    expect(await rows.count()).toBe(100);
    await page.click('.archived-list .link-button');
    await rows.nth(100).waitFor({ state: 'attached' });
    expect(await rows.allTextContents()).toContain('old 0');
    await rows.nth(100).locator('.icon-button').click();
    await page.locator('.thread-list', { hasText: 'old 0' }).waitFor();
    expect(await rows.count()).toBe(100);
  });
});

describe('a link', { timeout: TEST_MS }, () => {
  it('signs in when it is pasted into the page that is open, and leaves the address', async () => {
    const context = await house.browser.newContext();
    const page = await context.newPage();
    await page.goto(house.rookery.url);
    await page.waitForSelector('text=npx rookery open');
    const link = await house.link();
    await page.goto(link);
    await page.waitForSelector('.picker');
    expect(page.url()).not.toContain('code');

    // In a page that is signed in the code is used up too: it must not stay in the address.
    const next = await house.link();
    await page.goto(next);
    await page.waitForFunction('!location.href.includes("code")');
    await page.waitForSelector('.picker');
    await context.close();
  });

  it('that was used before is told so', async () => {
    const link = await house.link();
    const context = await house.browser.newContext({ locale: 'en-US' });
    const page = await context.newPage();
    await page.goto(link);
    await page.waitForSelector('.picker');
    await context.close();
    const other = await house.browser.newContext({ locale: 'en-US' });
    const second = await other.newPage();
    await second.goto(link);
    await second.waitForSelector('.locked');
    expect(await textOf(second.locator('[role=alert]'))).toContain('used before');
    await other.close();
  });
});

describe('a browser', { timeout: TEST_MS }, () => {
  it('that keeps no storage shows the page and takes a message', async () => {
    const context = await house.browser.newContext();
    await context.addInitScript(
      "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('denied', 'SecurityError'); } })",
    );
    const page = await context.newPage();
    await page.goto(await house.link());
    await page.waitForSelector('.picker');
    await page.click('.sidebar > .side-button');
    await page.locator('dialog select').first().selectOption('dark');
    await page.locator('dialog select').last().selectOption('zh-CN');
    await page.locator('dialog', { hasText: '设置' }).waitFor();
    await page.keyboard.press('Escape');
    await say(page, directed('hello', { text: 'fine' }));
    expect(await outcomes(page, 1)).toEqual(['completed']);
    await context.close();
  });

  it('that wishes Chinese is offered Chinese samples; one without JavaScript is told in both languages', async () => {
    const context = await house.browser.newContext({ locale: 'zh-CN' });
    const page = await context.newPage();
    await page.goto(await house.link());
    await page.waitForSelector('.picker');
    expect(await page.locator('.sample').allTextContents()).toEqual([
      '列出文件',
      '运行: uname -a',
      '把 hello 写入 notes.txt',
    ]);
    await context.close();
    const html = await (await fetch(house.rookery.url)).text();
    expect(html).toMatch(/<noscript>Rookery needs JavaScript\. .*JavaScript.*<\/noscript>/);
  });
});
