import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Switches that keep a test browser quiet and offline. */
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const usual = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Path of the browser: ROOKERY_CHROMIUM, what `npm test` found, else the usual places. */
function chromiumPath(): string {
  const given = process.env.ROOKERY_CHROMIUM ?? process.env.ROOKERY_TEST_CHROMIUM;
  const path = given ?? usual.find((one) => existsSync(one));
  if (path === undefined) throw new Error('no Chromium here: install it, or set ROOKERY_CHROMIUM to its path');
  return path;
}

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath(), args });
}
