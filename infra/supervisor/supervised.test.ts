import { expect, it } from 'vitest';
import { type Exit, type Launched, Supervised } from './supervised.ts';

/** A process that lives and dies as the test says. */
class Script {
  launches = 0;
  stops = 0;
  end: (exit: Exit) => void = () => {};
  becomeReady: () => void = () => {};

  launch = (): Launched => {
    this.launches += 1;
    const exited = new Promise<Exit>((resolve) => {
      this.end = resolve;
    });
    const ready = new Promise<void>((resolve) => {
      this.becomeReady = resolve;
    });
    const stop = async () => {
      this.stops += 1;
      this.end({ code: 0, signal: null });
    };
    return { pid: 1000 + this.launches, exited, ready, stop, kill: () => this.end({ code: null, signal: 'SIGKILL' }) };
  };
}

const tick = (ms = 5) => new Promise((resolve) => setTimeout(resolve, ms));

function supervised(script: Script, said: string[] = [], changed: () => void = () => {}): Supervised {
  return new Supervised({
    name: 'agent',
    launch: script.launch,
    say: (text) => said.push(text),
    changed,
    baseMs: 1,
    capMs: 4,
    firstAttempts: 3,
    readyMs: 5000,
  });
}

async function running(script: Script, said: string[] = []): Promise<Supervised> {
  const process = supervised(script, said);
  const started = process.start();
  await tick();
  script.becomeReady();
  await started;
  return process;
}

it('starts a process again that ends by itself, whatever its code', async () => {
  const script = new Script();
  const said: string[] = [];
  const process = await running(script, said);
  expect(process).toMatchObject({ state: 'running', pid: 1001 });
  script.end({ code: 0, signal: null });
  await tick(30);
  script.end({ code: null, signal: 'SIGKILL' });
  await tick(30);
  expect(script.launches).toBe(3);
  expect(process.restarts).toBe(2);
  expect(said[1]).toBe('agent ended by SIGKILL; starting it again in 2 ms');
  await process.stop(100);
});

it('does not start again what it was told to stop', async () => {
  const script = new Script();
  const process = await running(script);
  await process.stop(100);
  await tick(20);
  expect(script).toMatchObject({ launches: 1, stops: 1 });
  expect(process.state).toBe('stopped');
});

it('can be stopped between two starts', async () => {
  const script = new Script();
  const process = await running(script);
  script.end({ code: 1, signal: null });
  await process.stop(100);
  await tick(20);
  expect(script.launches).toBeLessThanOrEqual(2);
  expect(process.state).toBe('stopped');
});

it('says failing from the fifth end within a minute and goes on', async () => {
  const script = new Script();
  const said: string[] = [];
  const process = await running(script, said);
  for (let round = 0; round < 6; round += 1) {
    script.end({ code: 1, signal: null });
    await tick(25);
  }
  expect(said.findIndex((text) => text.includes('failing'))).toBe(4);
  expect(script.launches).toBe(7);
  await process.stop(100);
});

it('gives up a first start that never serves, with the reason', async () => {
  const script = new Script();
  const process = supervised(script);
  const started = process.start().catch((error: Error) => error.message);
  for (let round = 0; round < 3; round += 1) {
    await tick(20);
    script.end({ code: 1, signal: null });
  }
  expect(await started).toBe('agent ended with code 1');
  expect(script.launches).toBe(3);
});

it('gives up at once where a setting is the reason', async () => {
  const script = new Script();
  const started = supervised(script)
    .start()
    .catch((error: Error) => error.message);
  await tick();
  script.end({ code: 78, signal: null });
  expect(await started).toBe('agent ended with code 78');
  expect(script.launches).toBe(1);
});

it('restarts without a wait when asked to', async () => {
  const script = new Script();
  const said: string[] = [];
  const process = await running(script, said);
  await process.restart(100);
  await tick();
  expect(script.launches).toBe(2);
  expect(said).toEqual([]);
  await process.stop(100);
});

it('restarts at once only the process that it was asked for', async () => {
  const script = new Script();
  const said: string[] = [];
  const process = await running(script, said);
  script.end({ code: 1, signal: null });
  await Promise.resolve();
  // It waits for its next start: this only cuts the wait short.
  while (process.pid !== null) await Promise.resolve();
  await process.restart(100);
  await tick();
  expect(script.launches).toBe(2);
  script.end({ code: 1, signal: null });
  await tick();
  expect(said).toHaveLength(2);
  await process.stop(100);
});

it('can be stopped while it is not ready yet, and says so to whoever waits for it', async () => {
  const script = new Script();
  const process = supervised(script);
  const started = process.start().catch((error: Error) => error.message);
  await process.stop(100);
  expect(await started).toBe('agent was stopped');
  expect(script).toMatchObject({ launches: 1, stops: 1 });
  expect(process).toMatchObject({ state: 'stopped', pid: null });
});

it('can be killed from its first moment on', async () => {
  const script = new Script();
  const process = supervised(script);
  const started = process.start().catch((error: Error) => error.message);
  process.kill();
  expect(await started).toBe('agent was stopped');
  await tick();
  expect(process.pid).toBeNull();
});

it('keeps its process where the record of who runs cannot be written', async () => {
  const script = new Script();
  const said: string[] = [];
  const process = supervised(script, said, () => {
    throw new Error('no space left on device');
  });
  const started = process.start();
  script.becomeReady();
  await started;
  expect(process.pid).toBe(1001);
  script.end({ code: 1, signal: null });
  await tick(20);
  expect(script.launches).toBe(2);
  expect(process.pid).toBe(1002);
  expect(said[0]).toContain('no space left on device');
  await process.stop(100);
});

it('says what kept a process from serving rather than how it ended', async () => {
  const script = new Script();
  const started = supervised(script)
    .start()
    .catch((error: Error) => error.message);
  for (let round = 0; round < 3; round += 1) {
    script.end({ code: 1, signal: null, reason: 'did not start: its store is damaged' });
    await tick(10);
  }
  expect(await started).toBe('agent did not start: its store is damaged');
});
