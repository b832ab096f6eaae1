import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  checkout,
  configureModel,
  connectClient,
  createThread,
  startScriptedModel,
  startTurn,
  waitSettled,
} from '@rookery/testkit';
import { expect, it } from 'vitest';
import { type RunningHouse, startScript, temporaryHome } from '../service/running-house.ts';

const run = promisify(execFile);

async function open(house: RunningHouse) {
  const [, code] = await house.printed(/#code=(\S+)/);
  expect(code).toBeTruthy();
  const { http } = await house.json<{ http: { host: string; port: number } }>('gateway.json');
  const token = (await readFile(join(house.home, 'token'), 'utf8')).trim();
  return await connectClient({ url: `http://${http.host}:${http.port}`, token });
}

const stop = async (house: RunningHouse) => {
  house.child.kill('SIGTERM');
  await house.exited;
};

it('a home goes back to its backup: what came later is gone, what was there answers, and turns go on', async () => {
  const home = await temporaryHome();
  const model = await startScriptedModel();
  let at = home;
  const rookery = async (...words: string[]) => {
    const env = { ...process.env, ROOKERY_HOME: at };
    const { stdout } = await run(process.execPath, [join(checkout, 'dist/cli.mjs'), ...words, '--json'], { env });
    return JSON.parse(stdout);
  };
  let house = startScript(home, {}, []);
  try {
    let client = await open(house);
    await configureModel(client, model.url);
    client = await open(house);
    const kept = await createThread(client);
    const first = await startTurn(client, kept, 'one #script {"text":"first"}');
    await waitSettled(client.events, first.runId, 30_000);
    const copy = join(home, 'copy');
    expect(await rookery('backup', copy)).toMatchObject({ ok: true, folder: copy });
    const lost = await createThread(client);
    await client.close();

    await expect(rookery('restore', copy)).rejects.toThrow(/HOME_LOCKED/);
    await stop(house);
    const restored = await rookery('restore', copy);
    expect(restored).toMatchObject({ ok: true, folder: copy });
    expect(restored.journalId).not.toBe(JSON.parse(await readFile(join(copy, 'manifest.json'), 'utf8')).journalId);

    house = startScript(home, {}, []);
    client = await open(house);
    const { threads } = await client.request<{ threads: { id: string }[] }>('thread.list', {});
    expect(threads.map(({ id }) => id)).toEqual([kept.threadId]);
    await expect(client.request('thread.get', { threadId: lost.threadId })).rejects.toMatchObject({
      code: 'THREAD_NOT_FOUND',
    });
    // The key of the provider is opened again, the thread goes on.
    const second = await startTurn(client, kept, 'two #script {"text":"second"}');
    expect((await waitSettled(client.events, second.runId, 30_000)).status).toBe('completed');
    await client.close();

    await stop(house);
    const ends = await rookery('journal', 'accept-loss');
    expect(ends).toMatchObject({ ok: true, accepted: false });
    await expect(rookery('journal', 'accept-loss', '--at', String(ends.journal - 1))).rejects.toThrow(/INVALID_PARAMS/);
    expect(await rookery('journal', 'accept-loss', '--at', String(ends.journal))).toMatchObject({ accepted: true });
    house = startScript(home, {}, []);
    client = await open(house);
    expect((await client.request<{ threads: unknown[] }>('thread.list', {})).threads).toHaveLength(1);
    await client.close();

    // A look at a home that has no journal makes none; a restore makes the home.
    at = join(home, 'another');
    await expect(rookery('journal', 'accept-loss')).rejects.toThrow(/JOURNAL_UNAVAILABLE/);
    expect(existsSync(at)).toBe(false);
    expect(await rookery('restore', copy)).toMatchObject({ ok: true, movedAside: null });
  } finally {
    await stop(house);
    await model.stop();
    await rm(home, { recursive: true, force: true });
  }
});
