import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { directed, outcomes, type PageHouse, START_MS, say, startPageHouse, TEST_MS, textOf } from './page-house.ts';

const hostile = [
  'Text <img src="http://127.0.0.1:1/x.png" onerror="window.pwned = 1">',
  '<script>window.pwned = 2</script>',
  '<iframe srcdoc="<script>parent.pwned = 3</script>"></iframe>',
  '[a link](javascript:window.pwned=4) and [another](data:text/html,<script>window.pwned=5</script>)',
  '![picture](http://127.0.0.1:1/tracker.png) ![inline](javascript:window.pwned=6)',
  '<svg onload="window.pwned = 7"></svg> <a href="javascript:window.pwned=8">raw</a>',
  '[honest](https://example.org/page)',
].join('\n\n');

let house: PageHouse;

beforeAll(async () => {
  house = await startPageHouse('scripted');
}, START_MS);
afterAll(() => house?.stop());

/** Addresses that a page asks for outside its own server. */
function foreignRequests(page: Page): string[] {
  const foreign: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(house.rookery.url)) foreign.push(request.url());
  });
  return foreign;
}

const pwned = (page: Page) => page.evaluate<unknown>('window.pwned ?? null');

/** Tries in the page what an injection would try; gives the directives that refused it. Text, as it is not our program. */
const injection = `(async () => {
  const seen = [];
  document.addEventListener('securitypolicyviolation', (event) => seen.push(event.effectiveDirective));
  const box = document.createElement('div');
  box.innerHTML = '<img src="http://127.0.0.1:1/x.png" onerror="window.pwned = 12"><form action="/x"><button>go</button></form>';
  document.body.append(box);
  const script = document.createElement('script');
  script.textContent = 'window.pwned = 13';
  document.body.append(script);
  box.querySelector('button').click();
  const deadline = Date.now() + 10000;
  while (new Set(seen).size < 4 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
  // What was not refused would run now.
  await new Promise((resolve) => setTimeout(resolve, 200));
  return seen;
})()`;

/** Opens a WebSocket with the cookie that the browser sends by itself, and no key. */
const upgradeWithoutKey = `new Promise((resolve) => {
  const socket = new WebSocket('ws://' + location.host + '/rpc', ['rookery.v1']);
  socket.onopen = () => resolve('open');
  socket.onclose = () => resolve('refused');
})`;

describe('what a model, a tool or a person writes', { timeout: TEST_MS }, () => {
  it('is text and safe links: nothing of it runs or is fetched', async () => {
    const page = await house.open();
    const foreign = foreignRequests(page);
    const command = 'printf \'<img src=x onerror="window.pwned=9">\\033[31mred\\033[0m\'';
    await say(
      page,
      directed(`<img src=x onerror="window.pwned=10">`, {
        rounds: [
          [{ name: 'process_start', arguments: { command } }],
          // Its output is asked for once, so it must be there by then.
          [{ name: 'process_wait', arguments: { processId: '$result', timeoutMs: 30_000 } }],
        ],
        text: hostile,
        reasoning: '<img src=x onerror="window.pwned=11">',
      }),
    );
    expect(await outcomes(page, 1)).toEqual(['completed']);
    const card = page.locator('[data-tool=process_start]');
    await card.locator('.tool-head').click();
    await card.locator('text=Load newer output').click();
    await card.locator('.tool-output', { hasText: 'red' }).waitFor();

    const output = await textOf(card.locator('.tool-output'));
    expect(output).toContain('<img src=x onerror="window.pwned=9">red');
    expect(output).not.toContain('\u001b');
    const turns = page.locator('.turns');
    expect(await turns.locator('img, script, iframe, svg[onload]').count()).toBe(0);
    const links = await turns
      .locator('a')
      .evaluateAll((all) => all.map((one) => [one.getAttribute('href'), one.getAttribute('rel')]));
    expect(links).toEqual([
      ['http://127.0.0.1:1/tracker.png', 'noopener noreferrer nofollow'],
      ['https://example.org/page', 'noopener noreferrer nofollow'],
    ]);
    for (const dead of await turns.locator('.dead-link').all()) await dead.click();
    expect(await pwned(page)).toBeNull();
    expect(foreign).toEqual([]);
  });

  it('could not run even if it became markup', async () => {
    const page = await house.open();
    const refused = await page.evaluate<string[]>(injection);
    expect(new Set(refused)).toEqual(new Set(['img-src', 'script-src-attr', 'script-src-elem', 'form-action']));
    expect(await pwned(page)).toBeNull();
  });

  it('is shown without any violation of the policy by the page itself', async () => {
    const page = await house.open();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.reload();
    await page.waitForSelector('.picker');
    await page.click('.sidebar > .side-button');
    await page.waitForSelector('.provider-card');
    await page.keyboard.press('Escape');
    await say(page, directed('hello', { text: 'fine' }));
    await outcomes(page, 1);
    expect(complaints).toEqual([]);
  });
});

describe('signing in', { timeout: TEST_MS }, () => {
  it('takes the code out of the address, works once, and survives a reload', async () => {
    const context = await house.browser.newContext();
    const link = await house.link();
    const page = await context.newPage();
    await page.goto(link);
    await page.waitForSelector('.picker');
    expect(page.url()).not.toContain('code');
    await page.reload();
    await page.waitForSelector('.picker');
    await context.close();

    const other = await house.browser.newContext();
    const second = await other.newPage();
    await second.goto(link);
    await second.waitForSelector('text=npx rookery open');
    await other.close();
  });

  it('needs the key of the page: the cookie alone is refused', async () => {
    const page = await house.open();
    const key = await page.evaluate<string>("localStorage.getItem('rookery.key')");
    const [cookie, ...others] = await page.context().cookies();
    expect(cookie).toMatchObject({ name: 'rookery_session', httpOnly: true, sameSite: 'Strict' });
    expect(others).toEqual([]);
    const status = async (headers: Record<string, string>) => {
      const origin = house.rookery.url;
      const sent = {
        origin,
        cookie: `rookery_session=${cookie?.value}`,
        'content-type': 'application/json',
        ...headers,
      };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'thread.list', params: {} });
      return (await fetch(`${origin}/rpc/v1`, { method: 'POST', headers: sent, body })).status;
    };
    expect(await status({ 'x-rookery-key': key })).toBe(200);
    expect(await status({})).toBe(401);
    expect(await status({ 'x-rookery-key': `${key.slice(0, -1)}!` })).toBe(401);
    expect(await page.evaluate<string>(upgradeWithoutKey)).toBe('refused');

    await page.evaluate("localStorage.removeItem('rookery.key')");
    await page.reload();
    await page.waitForSelector('text=npx rookery open');
  });
});
