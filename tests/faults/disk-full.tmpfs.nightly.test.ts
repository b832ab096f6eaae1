import { constants } from 'node:fs';
import { open, readFile, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import {
  configureModel,
  connectClient,
  createThread,
  eventually,
  sleep,
  startScriptedModel,
  startTurn,
  testTimings,
  waitEvent,
  waitSettled,
} from '@rookery/testkit';
import { expect, it } from 'vitest';
import { clearHouse, houseEnvironment, isRunning, RunningHouse, temporaryHome } from '../service/running-house.ts';

const MIB = 1024 * 1024;
const lowMib = 24;
const timings = { ...testTimings, ambiguousDeadlineMs: 2000 };

/** `npm start` whose home is a small disk of its own, in a mount namespace that ends with it. */
function startOnSmallDisk(home: string): RunningHouse {
  const env = houseEnvironment(home, {
    ROOKERY_STORAGE_LOW_MIB: String(lowMib),
    ROOKERY_TIMINGS: JSON.stringify(timings),
    SMALL_HOME: home,
  });
  const command = `mount -t tmpfs -o size=128m tmpfs "$SMALL_HOME" && exec "${process.execPath}" infra/dev/start.mjs`;
  return new RunningHouse(home, 'unshare', [process.getuid?.() === 0 ? '-m' : '-rm', 'sh', '-c', command], env);
}

/** Leaves so many bytes free: allocates the rest. */
async function fillUpTo(folder: string, name: string, freeBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const file = await open(join(folder, name), constants.O_CREAT | constants.O_WRONLY);
  const block = Buffer.alloc(64 * 1024);
  try {
    for (let left = bavail * bsize - freeBytes; left > 0; left -= block.length) {
      await file.write(block, 0, Math.min(left, block.length));
    }
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
  } finally {
    await file.close();
  }
}

it('takes no turn on a disk that is nearly full, survives a full one, and goes on by itself when there is space', {
  timeout: 180_000,
}, async () => {
  const home = await temporaryHome();
  const house = startOnSmallDisk(home);
  const model = await startScriptedModel();
  // The disk as it is seen from outside of its namespace.
  const disk = join('/proc', String(house.child.pid), 'root', home);
  const file = (name: string) => join(disk, name);
  try {
    const [, url = ''] = await house.printed(/(http:\/\/127\.0\.0\.1:\d+)\/#code=/);
    const pidsNow = async () =>
      JSON.parse(await readFile(file('run/supervisor.json'), 'utf8')) as { supervisor: { pid: number } };
    const token = (await readFile(file('token'), 'utf8')).trim();
    await configureModel(await connectClient({ url, token }), model.url);
    const client = await connectClient({ url, token });
    const script = (directive: object) => `go #script ${JSON.stringify(directive)}`;
    const codeOf = (work: Promise<unknown>) =>
      work.then(
        () => 'no error',
        (error: { code?: string }) => error.code ?? String(error),
      );

    // What is left to write while the turn runs is little.
    await fillUpTo(disk, 'most', (lowMib + 12) * MIB);
    const thread = await createThread(client);
    const running = await startTurn(client, thread, script({ text: 'word '.repeat(40), deltas: 40, delayMs: 200 }));
    await waitEvent(client.events, running.runId, 'item.delta');
    const queued = await startTurn(client, thread, script({ text: 'later' }));
    await fillUpTo(disk, 'ballast', (lowMib / 2) * MIB);
    const other = await createThread(client);
    // A turn that is accepted before the agent has looked stays accepted, whatever comes.
    await house.printed(/agent: STORAGE_LOW/);
    expect(await codeOf(startTurn(client, other, script({ text: 'no' }), 'refused'))).toBe('STORAGE_LOW');
    // What runs goes on, what waits is left waiting.
    expect(await waitSettled(client.events, running.runId)).toMatchObject({ status: 'completed' });
    await sleep(2 * timings.sweepMs);
    const states = (runId: string) =>
      client.events.flatMap(({ type, runId: id, payload }) =>
        type === 'run.state_changed' && id === runId ? [payload.status] : [],
      );
    expect(states(running.runId)).toContain('running');
    expect(states(queued.runId)).not.toContain('running');

    await fillUpTo(disk, 'more', 0);
    await eventually('the journal to refuse', async () => (await codeOf(createThread(client))) !== 'no error', {
      timeoutMs: 60_000,
    });
    const natsBefore = JSON.parse(await readFile(file('run/nats.json'), 'utf8')) as { pid: number };
    expect(isRunning((await pidsNow()).supervisor.pid)).toBe(true);

    await rm(file('more'));
    await rm(file('ballast'));
    await rm(file('most'));
    expect(await waitSettled(client.events, queued.runId, 60_000)).toMatchObject({ status: 'completed' });
    const natsAfter = JSON.parse(await readFile(file('run/nats.json'), 'utf8')) as { pid: number };
    expect(natsAfter.pid).not.toBe(natsBefore.pid);
    expect(house.output).toContain('nats-server stopped writing');
    const after = await eventually('a turn to be taken', () =>
      startTurn(client, other, script({ text: 'yes' }), 'taken'),
    );
    expect(await waitSettled(client.events, after.runId)).toMatchObject({ status: 'completed' });
    await client.close();
    house.child.kill('SIGTERM');
    expect(await house.exited).toBe(0);
  } catch (error) {
    const logs = ['agent', 'gateway'].map((name) => readFile(file(`logs/${name}.log`), 'utf8').catch(() => ''));
    const tails = (await Promise.all(logs)).map((text) => text.split('\n').slice(-15).join('\n'));
    throw new Error([house.output, ...tails].join('\n--- log\n'), { cause: error });
  } finally {
    await model.stop();
    await clearHouse(house);
  }
});
