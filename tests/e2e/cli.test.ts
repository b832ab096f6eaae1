import { spawn } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  checkout,
  commitHeaders,
  connectAs,
  eventually,
  type FaultHouse,
  sleep,
  startFaultHouse,
  temporaryFolder,
  testTimings,
} from '@rookery/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let house: FaultHouse;
beforeAll(async () => {
  house = await startFaultHouse();
});
afterAll(() => house?.stop());

interface Run {
  stdout: string;
  stderr: string;
  code: number | null;
  child: ReturnType<typeof spawn>;
  ended: Promise<Run>;
}

/** Starts `rookery` as a person does, with the house's home. */
function rookery(args: string[], options: { input?: string; env?: NodeJS.ProcessEnv } = {}): Run {
  const { ROOKERY_HTTP: _http, ROOKERY_NATS_URL: _nats, ...env } = process.env;
  const child = spawn(process.execPath, [join(checkout, 'apps/cli/bin/rookery.mjs'), ...args], {
    env: { ...env, ROOKERY_HOME: house.rookery.home, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin?.end(options.input ?? '');
  const run: Run = { stdout: '', stderr: '', code: null, child, ended: Promise.resolve(null as never) };
  child.stdout?.on('data', (text) => {
    run.stdout += text;
  });
  child.stderr?.on('data', (text) => {
    run.stderr += text;
  });
  run.ended = new Promise((resolve) => {
    child.once('close', (code) => {
      run.code = code;
      resolve(run);
    });
  });
  return run;
}

const scripted = (script: object) => `do it #script ${JSON.stringify(script)}`;

describe('exec', () => {
  it('streams the answer to stdout and tool calls to stderr, and ends with 0', async () => {
    const script = { tools: [{ name: 'list', arguments: {} }], text: 'all listed', deltas: 3 };
    const run = await rookery(['exec', scripted(script)]).ended;
    expect(run).toMatchObject({ code: 0, stdout: 'all listed\n' });
    expect(run.stderr).toMatch(/^thread thread_\w+\n→ list \{\}\n {2}✓ /);
  });

  it('goes on in a thread, reads the prompt from stdin, and prints events as lines of JSON', async () => {
    const first = await rookery(['exec', '--cwd', house.rookery.home, scripted({ text: 'one' })]).ended;
    const thread = /thread (\S+)/.exec(first.stderr)?.[1] ?? '';
    const run = await rookery(['exec', '--thread', thread, '--json', '-'], { input: scripted({ text: 'two' }) }).ended;
    expect(run).toMatchObject({ code: 0, stderr: '' });
    const events = run.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events[0]).toMatchObject({ type: 'item.completed', threadId: thread });
    expect(events.at(-1)).toMatchObject({ type: 'run.settled', payload: { status: 'completed' } });
    expect(events.map(({ seq }) => seq)).toEqual(events.map(({ seq }) => seq).sort((a, b) => a - b));
  });

  it('ends with 1 and the reason when the run fails', async () => {
    const run = await rookery(['exec', scripted({ fail: { at: 0, status: 401 } })]).ended;
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toMatch(/failed: provider_\w+\n$/);
  });

  it('ends with 1 and what there is when no such model is enabled', async () => {
    const run = await rookery(['exec', '--model', 'nope', 'hello']).ended;
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(/test \/ test-model.*\[MODEL_NOT_CONFIGURED\]/);
  });

  it('stops the run at Ctrl-C and ends with 130', async () => {
    const run = rookery(['exec', scripted({ text: 'long '.repeat(100), deltas: 100, delayMs: 100 })]);
    await eventually('the answer to begin', () => run.stdout.length > 10);
    run.child.kill('SIGINT');
    await run.ended;
    expect(run.code).toBe(130);
    expect(run.stderr).toContain('cancelled');
  });

  it('carries on when the gateway dies in mid-stream, without a gap or a repeat', async () => {
    const text = Array.from({ length: 40 }, (_, n) => `word${n} `).join('');
    const run = rookery(['exec', scripted({ text, deltas: 40, delayMs: 100 })]);
    await eventually('the answer to begin', () => run.stdout.includes('word3'));
    await house.rookery.killAndWait('gateway');
    await run.ended;
    expect(run.stderr).toContain('connection lost');
    expect(run).toMatchObject({ code: 0, stdout: `${text}\n` });
  });
});

it('ends when the run ended while the gateway was away', async () => {
  const run = rookery(['exec', scripted({ text: 'one two three', deltas: 3, delayMs: 150 })]);
  await eventually('the answer to begin', () => run.stdout.includes('one'));
  // Stopped, not killed: the connection breaks only when the process does, after the run has ended.
  house.rookery.service('gateway').signal('SIGSTOP');
  await sleep(1500);
  await house.rookery.killAndWait('gateway');
  await run.ended;
  expect(run).toMatchObject({ code: 0, stdout: 'one two three\n' });
});

it('lists threads', async () => {
  const plain = await rookery(['threads']).ended;
  const lines = await rookery(['threads', '--json']).ended;
  const threads = lines.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(threads.length).toBeGreaterThan(2);
  expect(plain.stdout.split('\n')[0]).toContain(threads[0].id);
});

it('prints a link whose code signs a browser in, once', async () => {
  const { stdout } = await rookery(['open']).ended;
  const [, base = '', code = ''] = /^(http:\/\/127\.0\.0\.1:\d+)\/#code=(\S+)\n$/.exec(stdout) ?? [];
  const exchange = () =>
    fetch(`${base}/auth/exchange`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: base },
      body: JSON.stringify({ code }),
    });
  const first = await exchange();
  expect(first.status).toBe(200);
  expect(first.headers.get('set-cookie')).toContain('HttpOnly');
  expect((await exchange()).status).toBe(401);
});

it('replays the journal from any position', async () => {
  const all = (await rookery(['journal', 'replay']).ended).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const middle = all[Math.floor(all.length / 2)].seq;
  const rest = (await rookery(['journal', 'replay', '--after', String(middle)]).ended).stdout.trim().split('\n');
  expect(rest.map((line) => JSON.parse(line).seq)).toEqual(all.map(({ seq }) => seq).filter((seq) => seq > middle));
});

it('checks the journal: 0 when it is sound, 2 with the place when an entry is damaged, 1 when it cannot read it', async () => {
  const sound = await rookery(['journal', 'check']).ended;
  expect(sound).toMatchObject({ code: 0, stderr: '' });
  expect(sound.stdout).toMatch(/JOURNAL: \d+ commits.*, 0 damaged\nMEMORY: 0 commits, 0 damaged\n/);

  const agent = await connectAs(house.rookery.nats, 'agent');
  const subject = 'journal.home.thread.thread_damaged.turns';
  const reply = await agent.request(subject, '{"v":1,', { headers: commitHeaders(`${subject}/c/0`, 0), timeout: 5000 });
  const { seq } = reply.json<{ seq: number }>();
  await agent.close();
  const damaged = await rookery(['journal', 'check']).ended;
  expect(damaged.code).toBe(2);
  expect(damaged.stdout).toContain(`  ${seq} ${subject}: damaged: not JSON\n`);
  const report = JSON.parse((await rookery(['journal', 'check', '--json']).ended).stdout);
  expect(report).toMatchObject({ ok: false, streams: [{ problems: [{ streamSeq: seq, subject }] }, {}] });

  const away = await rookery(['journal', 'check'], { env: { ROOKERY_NATS_URL: 'nats://127.0.0.1:1' } }).ended;
  expect(away.code).toBe(1);
  expect(away.stderr).toContain('[JOURNAL_UNAVAILABLE]');
});

describe('doctor', () => {
  it('finds every dependency and service in order', async () => {
    const run = await rookery(['doctor', '--json']).ended;
    const report = JSON.parse(run.stdout);
    const states = Object.fromEntries(
      report.findings.map(({ name, state }: { name: string; state: string }) => [name, state]),
    );
    expect(states).toMatchObject({
      'nats-server': 'ok',
      gateway: 'ok',
      agent: 'ok',
      'tool-runner': 'ok',
      memory: 'ok',
      channels: 'ok',
      'gateway address': 'ok',
      models: 'ok',
    });
  });

  it('says what is wrong and what to do, and ends with 1', async () => {
    await house.rookery.service('memory').down();
    try {
      const look = async () => {
        const run = await rookery(['doctor']).ended;
        return /✗ memory: does not run\n {4}Its log says why: \S+memory\.log/.test(run.stdout) ? run : null;
      };
      const run = await eventually('the lease of memory to expire', look, {
        timeoutMs: testTimings.leaseTtlMs + 10_000,
      });
      expect(run.code).toBe(1);
    } finally {
      await house.rookery.service('memory').up();
    }
  });
});

it('says clearly when nothing runs, and when the token is another one', async () => {
  const nobody = await rookery(['threads'], { env: { ROOKERY_HTTP: '127.0.0.1:1' } }).ended;
  expect(nobody.code).toBe(1);
  expect(nobody.stderr).toMatch(/not running at http:\/\/127\.0\.0\.1:1.*npm start.*\[SERVICE_UNAVAILABLE\]/);
  const { port } = new URL(house.rookery.url);
  const { stop, home } = await strangerHome();
  const stranger = await rookery(['threads'], { env: { ROOKERY_HOME: home, ROOKERY_HTTP: `127.0.0.1:${port}` } }).ended;
  await stop();
  expect(stranger.code).toBe(1);
  expect(stranger.stderr).toMatch(/refused the token.*\[UNAUTHORIZED\]/);
});

async function strangerHome(): Promise<{ home: string; stop(): Promise<void> }> {
  const folder = await temporaryFolder('stranger');
  await writeFile(join(folder.path, 'token'), 'x'.repeat(43));
  return { home: folder.path, stop: folder.remove };
}

it('replaces the token; the old one is refused and the new one is readable by its owner alone', async () => {
  const path = join(house.rookery.home, 'token');
  const old = (await readFile(path, 'utf8')).trim();
  const run = await rookery(['token', 'rotate']).ended;
  expect(run).toMatchObject({ code: 0, stderr: '' });
  const now = (await readFile(path, 'utf8')).trim();
  expect(now).not.toBe(old);
  expect(run.stdout).not.toContain(now);
  expect((await stat(path)).mode & 0o077).toBe(0);
  const ask = (token: string) =>
    fetch(`${house.rookery.url}/rpc/v1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: '{"jsonrpc":"2.0","id":1,"method":"thread.list","params":{}}',
    });
  expect((await ask(old)).status).toBe(401);
  expect((await ask(now)).status).toBe(200);
  expect((await rookery(['threads']).ended).code).toBe(0);
});
