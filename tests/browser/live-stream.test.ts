import { eventually } from '@rookery/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchShifts } from './layout-shift.ts';
import { directed, outcomes, type PageHouse, START_MS, say, startPageHouse, TEST_MS, textOf } from './page-house.ts';

const MAX_SHIFT = 0.01;

/** Every kind of block that could move what stands above it while it grows. */
const answer = [
  'A first paragraph that is long enough to take more than one line of the column in which it is written here.',
  '## A heading',
  '- one\n- two\n\n- loose three',
  '```ts\nexport const answer = 42;\n\nconst long = "a line that is wider than the column, so that its block has to scroll sideways";\n```',
  '| name | lines |\n| --- | ---: |\n| notes.txt | 2 |\n| a-longer-name.txt | 1024 |',
  '1. first\n2. second\n\n   with more',
  '> a quotation',
  `${'And a good deal of text at its end. '.repeat(30)}`,
  'The last words.',
].join('\n\n');

let house: PageHouse;

beforeAll(async () => {
  house = await startPageHouse('scripted');
}, START_MS);
afterAll(() => house?.stop());

describe('a streamed answer', { timeout: TEST_MS }, () => {
  it('moves nothing on the page and keeps its end in view', async () => {
    const page = await house.open();
    await say(page, directed('warm up', { text: answer }));
    await outcomes(page, 1);
    await say(
      page,
      directed('stream', {
        say: 'I look first.',
        tools: [{ name: 'list', arguments: { path: '.' } }],
        text: answer,
        deltas: 150,
        delayMs: 15,
      }),
    );
    await page.waitForSelector('.answer.streaming');
    const shifts = await watchShifts(page);
    expect(await outcomes(page, 2)).toEqual(['completed', 'completed']);
    expect(await textOf(page.locator('.answer').last())).toContain('The last words.');
    expect(await shifts()).toBeLessThan(MAX_SHIFT);
    const fromEnd = await page
      .locator('.scroller')
      .evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
    expect(fromEnd).toBeLessThan(2);
  });

  it('leaves a reader who scrolled up where they are', async () => {
    const page = await house.open();
    await say(page, directed('stream', { text: answer, deltas: 120, delayMs: 20 }));
    await page.locator('.md table').waitFor({ state: 'attached' });
    await page.hover('.scroller');
    await page.mouse.wheel(0, -2000);
    await page.waitForSelector('.jump:not(.hidden)');
    const place = () => page.locator('.scroller').evaluate((box) => box.scrollTop);
    const before = await place();
    await outcomes(page, 1);
    expect(await place()).toBe(before);
    await page.click('.jump');
    await page.waitForSelector('.jump.hidden', { state: 'attached' });
  });

  it('is stopped by Escape, with what was written kept', async () => {
    const page = await house.open();
    await say(page, directed('long', { text: 'word '.repeat(400), deltas: 400, delayMs: 20 }));
    await page.locator('.answer', { hasText: 'word word' }).waitFor();
    await page.press('#composer', 'Escape');
    expect(await outcomes(page, 1)).toEqual(['cancelled']);
    const card = await textOf(page.locator('[data-outcome]'));
    expect(card).toContain('You stopped it.');
    expect(card).toContain('cancelled');
    expect(await textOf(page.locator('.answer .md'))).toMatch(/^(word ?)+$/);
  });

  it('takes an addition while it works, and says so', async () => {
    const page = await house.open();
    await say(
      page,
      directed('work', {
        tools: [{ name: 'process_start', arguments: { command: 'true' } }],
        text: 'x '.repeat(900),
        deltas: 900,
        delayMs: 30,
      }),
    );
    await page.waitForSelector('.composer-box.steering');
    await say(page, 'and count the lines');
    await page.waitForSelector('.steer-note');
    expect(await textOf(page.locator('.bubble').last())).toBe('and count the lines');
    expect(await page.inputValue('#composer')).toBe('');
    await page.press('#composer', 'Escape');
    await outcomes(page, 1);
  });

  it('says in plain words and with its code why it failed', async () => {
    const page = await house.open();
    await say(page, directed('fail', { fail: { at: 0, status: 401 } }));
    expect(await outcomes(page, 1)).toEqual(['failed']);
    const card = await textOf(page.locator('[data-outcome]'));
    expect(card).toContain('The provider refused the key.');
    expect(card).toContain('provider_authentication');
  });
});

describe('a gateway that is killed in mid-stream', { timeout: TEST_MS }, () => {
  it('is told in a banner, and the text is whole afterwards', async () => {
    const page = await house.open();
    const text = Array.from({ length: 200 }, (_, n) => `word${n}`).join(' ');
    await say(page, directed('stream', { text, deltas: 200, delayMs: 20 }));
    await page.locator('.answer', { hasText: 'word20 ' }).waitFor();
    const told = page.waitForSelector('[role=status][data-status=reconnecting], [role=status][data-status=offline]');
    await Promise.all([house.rookery.killAndWait('gateway'), told]);
    await page.waitForSelector('[data-status=connected]', { state: 'attached' });
    expect(await outcomes(page, 1)).toEqual(['completed']);
    expect((await textOf(page.locator('.answer .md'))).trim()).toBe(text);
  });

  it('does not lose or double a message that was sent while it was away', async () => {
    const page = await house.open();
    await say(page, directed('first', { text: 'one' }));
    await outcomes(page, 1);
    const restarted = house.rookery.killAndWait('gateway');
    await page.waitForSelector('[role=status]:not([data-status=connected])', { state: 'attached' });
    await say(page, directed('sent while away', { text: 'two' }));
    await restarted;
    expect(await outcomes(page, 2)).toEqual(['completed', 'completed']);
    await eventually('the composer to be free', async () => (await page.inputValue('#composer')) === '');
    await page.reload();
    expect(await outcomes(page, 2)).toEqual(['completed', 'completed']);
    expect(
      (await page.locator('.bubble').allTextContents()).filter((one) => one.includes('sent while away')),
    ).toHaveLength(1);
  });
});
