import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { provisionHome } from './provision-home.ts';

let dist: string;
beforeEach(async () => {
  dist = await mkdtemp(join(tmpdir(), 'rookery-provision-'));
});
afterEach(() => rm(dist, { recursive: true, force: true }));

const program = (text: string) => writeFile(join(dist, 'provision.mjs'), text);
const never = new AbortController().signal;

it('gives what the program did, or its error with its code', async () => {
  await program("console.log('verified')");
  expect(await provisionHome(dist, process.env, never)).toBe('verified');
  await program('console.error(JSON.stringify({ code: "JOURNAL_UNAVAILABLE", message: "away" })); process.exit(1)');
  await expect(provisionHome(dist, process.env, never)).rejects.toMatchObject({ code: 'JOURNAL_UNAVAILABLE' });
});

it('ends the program when the start is stopped', async () => {
  const seen = join(dist, 'seen');
  await program(`(await import('node:fs')).writeFileSync(${JSON.stringify(seen)}, String(process.pid));
    setInterval(() => {}, 1000);`);
  const stop = new AbortController();
  const done = provisionHome(dist, process.env, stop.signal).catch(() => 'ended');
  const written = () =>
    access(seen).then(
      () => readFile(seen, 'utf8'),
      () => '',
    );
  let pid = 0;
  while (pid === 0) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    pid = Number(await written());
  }
  stop.abort();
  expect(await done).toBe('ended');
  expect(() => process.kill(pid, 0)).toThrow();
});
