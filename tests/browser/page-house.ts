import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { hostDemo } from '@rookery/infra/demo';
import { checkout, type Directive, startRookery, startScriptedModel, type TestRookery } from '@rookery/testkit';
import type { Browser, Locator, Page } from 'playwright-core';
import { launchBrowser } from './browser.ts';

/** Patience for a busy machine: to start all of it and a browser, for one test, for one step of a page. */
export const START_MS = 180_000;
export const TEST_MS = 150_000;
const STEP_MS = 100_000;

/** The whole product with its page in a real browser. */
export interface PageHouse {
  rookery: TestRookery;
  browser: Browser;
  /** A signed-in page in a browser profile of its own. */
  open(): Promise<Page>;
  /** A link with a fresh one-time code. */
  link(): Promise<string>;
  stop(): Promise<void>;
}

/** With `demo` the built-in demo provider answers, else the scripted model, which obeys the directives of a message. */
export async function startPageHouse(provider: 'demo' | 'scripted'): Promise<PageHouse> {
  await buildPage();
  const model = provider === 'scripted' ? await startScriptedModel() : null;
  const rookery = await startRookery(model ? { modelUrl: model.url } : {});
  const demo = provider === 'demo' ? await hostDemo(rookery.home) : null;
  const browser = await launchBrowser();

  const link = async () => {
    const client = await rookery.client();
    const { code } = await client.request<{ code: string }>('auth.create_code', {});
    await client.close();
    return `${rookery.url}/#code=${code}`;
  };
  const open = async () => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-US' });
    context.setDefaultTimeout(STEP_MS);
    const page = await context.newPage();
    await page.goto(await link());
    await page.waitForSelector('.picker');
    return page;
  };
  const stop = async () => {
    await browser.close();
    await demo?.stop();
    await model?.stop();
    await rookery.stop();
  };
  return { rookery, browser, open, link, stop };
}

/** Types a message and sends it with Enter, as a person does. */
export async function say(page: Page, text: string): Promise<void> {
  await page.fill('#composer', text);
  await page.waitForSelector('.send:not([disabled])');
  await page.press('#composer', 'Enter');
}

/** Text of an element, hidden parts too. */
export async function textOf(element: Locator): Promise<string> {
  return (await element.textContent()) ?? '';
}

/** A message that tells the scripted model what to do. */
export function directed(words: string, directive: Directive): string {
  return `${words} #script ${JSON.stringify(directive)}`;
}

/** Waits until so many runs on the page have ended; gives their outcomes in order. */
export async function outcomes(page: Page, count: number): Promise<(string | null)[]> {
  const all = page.locator('[data-outcome]');
  await all.nth(count - 1).waitFor();
  return all.evaluateAll((found) => found.map((one) => one.getAttribute('data-outcome')));
}

/** Builds the page where a source changed; inside `npm test` it was built before. */
async function buildPage(): Promise<void> {
  if (process.env.ROOKERY_TEST_BUILT === '1') return;
  const script =
    `const build = await import(${JSON.stringify(join(checkout, 'infra/dev/build.mjs'))});` +
    'if (!build.webIsFresh()) await build.buildWeb();';
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const code = await new Promise<number | null>((done) => child.once('exit', done));
  if (code !== 0) throw new Error('the page could not be built');
}
