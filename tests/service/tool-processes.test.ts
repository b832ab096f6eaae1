import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '@rookery/protocol';
import { PathLocks } from '@rookery/sandbox';
import {
  groupRuns,
  makeContext,
  makeFolder,
  makeProcessTable,
  type ProcessMeta,
  runTool,
  type ToolContext,
  ToolFailure,
} from '@rookery/tool-runner/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let root: string;
let bench: ReturnType<typeof makeProcessTable>;
beforeEach(() => {
  root = makeFolder();
  bench = makeProcessTable(root);
});
afterEach(() => {
  for (const meta of bench.files.all()) if (meta.pid !== null && meta.state === 'running') kill(meta.pid);
  bench.table.close();
  rmSync(root, { recursive: true, force: true });
});

const THREAD = 'thread_1';
const never = new AbortController().signal;
let items = 0;

function kill(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // Gone already.
  }
}

function start(
  command: string,
  other: { itemId?: string; threadId?: string; background?: boolean; cwd?: string } = {},
) {
  items += 1;
  const { itemId = `item_${items}`, threadId = THREAD, background = false, cwd = root } = other;
  return bench.table.start({ command, cwd, background }, makeContext(root, { itemId, threadId }));
}

async function finish(command: string) {
  const { processId } = await start(command);
  return bench.table.wait(THREAD, processId, 0, 20_000, never);
}

/** Where the shell of a command has written its exit status. */
function exitFile(meta: ProcessMeta): string {
  return bench.files.logPath(meta.threadId, meta.processId).replace(/\.log$/, '.exit');
}

async function codeOf(work: () => unknown): Promise<string> {
  try {
    await work();
    return 'ok';
  } catch (error) {
    return error instanceof ToolFailure ? error.errorCode : String(error);
  }
}

describe('a command', () => {
  it('runs in its folder with both outputs in one stream and an empty input', async () => {
    const { meta, page } = await finish('pwd; echo err >&2; cat; echo done');
    expect(page).toEqual({ output: `${root}\nerr\ndone\n`, cursor: 0, nextCursor: page.output.length, hasMore: false });
    expect(meta).toMatchObject({ state: 'exited', exitCode: 0, errorCode: null, cwd: root });
  });

  it('has intent, start and end on record in this order', async () => {
    const { meta } = await finish('exit 3');
    expect(bench.facts.states(meta.processId)).toEqual(['unknown', 'running', 'exited']);
    const [intent, running, ended] = bench.facts.records;
    expect(intent).toMatchObject({ errorCode: 'start_pending', pid: null, startedAt: null });
    expect(running).toMatchObject({ errorCode: null, pid: meta.pid, finishedAt: null });
    expect(ended).toMatchObject({ exitCode: 3, errorCode: 'nonzero_exit' });
  });

  it('is not started where its intent cannot be recorded', async () => {
    bench.facts.failing = true;
    expect(await codeOf(() => start(`touch ${join(root, 'effect')}`))).toBe('spawn_failed');
    expect(readdirSync(root)).toEqual(['processes']);
    const [meta] = bench.files.all();
    expect(meta).toMatchObject({ state: 'terminated', errorCode: 'spawn_failed', pid: null });
  });

  it('that the system cannot start says so', async () => {
    expect(await codeOf(() => start('true', { cwd: join(root, 'gone') }))).toBe('spawn_failed');
    expect(bench.facts.records.at(-1)).toMatchObject({ state: 'terminated', errorCode: 'spawn_failed' });
  });

  it('sees nothing of the environment beyond the allow-list', async () => {
    const names = ['ROOKERY_SECRET', 'NATS_URL', 'FAULT', 'NODE_OPTIONS', 'LD_PRELOAD_X'];
    for (const name of names) process.env[name] = '';
    try {
      const fresh = makeProcessTable(root);
      const context = makeContext(root, { itemId: 'item_env' });
      const { processId } = await fresh.table.start({ command: 'env', cwd: root, background: false }, context);
      const { page } = await fresh.table.wait(THREAD, processId, 0, 20_000, never);
      expect(page.output).toContain('PYTHONUTF8=1\n');
      for (const name of names) expect(page.output).not.toContain(name);
    } finally {
      for (const name of names) delete process.env[name];
    }
  });

  it('killed by a signal from outside is terminated, not exited', async () => {
    const { meta } = await finish('kill -9 $$');
    expect(meta).toMatchObject({ state: 'terminated', exitCode: null, errorCode: 'killed_by_signal' });
  });

  it('has the exit status that its shell gives, and no way to what records it', async () => {
    const { meta, page } = await finish('echo "$0 $#"; { echo 0 >&3; } 2>&1 | grep -c "Bad\\|bad"; exit 255');
    expect(page.output).toMatch(/^\S*sh 0\n1\n$/);
    expect(meta).toMatchObject({ state: 'exited', exitCode: 255, errorCode: 'nonzero_exit' });
  });

  it('that signals its own group and heeds that itself has the status that it chose', async () => {
    const { meta } = await finish('trap "exit 3" TERM; kill 0; exit 4');
    expect(meta).toMatchObject({ state: 'exited', exitCode: 3 });
  });

  it.each(['HUP', 'INT', 'QUIT', 'TERM'])('does not ignore SIG%s because of what records its end', async (signal) => {
    const { meta } = await finish(`kill -${signal} $$; exit 0`);
    expect(meta).toMatchObject({ state: 'terminated', errorCode: 'killed_by_signal' });
  });

  it('takes what it left behind with it', async () => {
    const { meta, page } = await finish('sleep 300 & trap "" TERM; echo $!');
    expect(page.output).toMatch(/^\d+\n$/);
    expect(groupRuns(meta.pid ?? 0)).toBe(false);
  });

  it('reports growing output, and its files are for the owner only', async () => {
    const { processId } = await start('for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done');
    await bench.table.wait(THREAD, processId, 0, 20_000, never);
    const records = bench.facts.records.filter((record) => record.state === 'running');
    expect(records.length).toBeGreaterThan(2);
    expect(bench.facts.records.at(-1)?.output).toBe('1\n2\n3\n4\n5\n6\n');
    for (const name of readdirSync(join(root, 'processes', THREAD))) {
      expect(statSync(join(root, 'processes', THREAD, name)).mode & 0o777).toBe(0o600);
    }
  });

  it('that floods its output keeps 1 MiB of it', async () => {
    const { meta, page } = await finish('head -c 20000000 /dev/zero | tr "\\0" x; echo; echo end');
    expect(statSync(bench.files.logPath(THREAD, meta.processId)).size).toBe(limits.processWindowBytes);
    expect(page.output).toBe('x'.repeat(limits.processPageBytes));
    expect(meta.omittedBytes).toBeGreaterThan(0);
    const { page: middle } = bench.table.read(THREAD, meta.processId, limits.processWindowBytes / 2);
    expect(middle.output).toContain(`${meta.omittedBytes} bytes omitted`);
    const total = limits.processWindowBytes + meta.omittedBytes;
    expect(bench.table.read(THREAD, meta.processId, total - 5).page.output).toBe('\nend\n');
  });
});

describe('starting', () => {
  it('the same call again gives the same command, another command is refused', async () => {
    const first = await start('sleep 300', { itemId: 'item_same' });
    expect((await start('sleep 300', { itemId: 'item_same' })).pid).toBe(first.pid);
    expect(await codeOf(() => start('sleep 301', { itemId: 'item_same' }))).toBe('process_invocation_conflict');
    expect(await codeOf(() => start('sleep 300', { itemId: 'item_same', background: true }))).toBe(
      'process_invocation_conflict',
    );
    await bench.table.stop(THREAD, first.processId, 0);
    expect((await start('sleep 300', { itemId: 'item_same' })).state).toBe('terminated');
  });

  it('holds 64 commands a thread and not one more, also when all ask at once', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: limits.processesPerThread + 2 }, () => codeOf(() => start('exec sleep 300'))),
    );
    expect(outcomes.filter((code) => code === 'ok')).toHaveLength(limits.processesPerThread);
    expect(outcomes.filter((code) => code === 'process_limit')).toHaveLength(2);
    expect(await codeOf(() => start('true', { threadId: 'thread_other' }))).toBe('ok');
    const [one] = bench.files.all().filter((meta) => meta.state === 'running' && meta.threadId === THREAD);
    await bench.table.stop(THREAD, one?.processId ?? '', 0);
    expect(await codeOf(() => start('true'))).toBe('ok');
  });
});

describe('waiting', () => {
  it('answers running when the time is over', async () => {
    const { processId } = await start('echo now; sleep 300');
    const { meta } = await bench.table.wait(THREAD, processId, 0, 1, never);
    expect(meta.state).toBe('running');
  });

  it('ends when the call is cancelled', async () => {
    const { processId } = await start('sleep 300');
    const controller = new AbortController();
    const waiting = bench.table.wait(THREAD, processId, 0, 60_000, controller.signal);
    controller.abort();
    expect((await waiting).meta.state).toBe('running');
  });
});

describe('stopping', () => {
  it('ends the whole group and is harmless twice', async () => {
    const started = await start('sleep 300 & sleep 300 & wait');
    const { meta } = await bench.table.stop(THREAD, started.processId, 0);
    expect(meta).toMatchObject({ state: 'terminated', exitCode: null, errorCode: 'terminated' });
    expect(groupRuns(started.pid ?? 0)).toBe(false);
    expect((await bench.table.stop(THREAD, started.processId, 0)).meta).toEqual(meta);
  });

  it('sends one polite signal and leaves the time to heed it', async () => {
    const command =
      'trap "echo asked; sleep 0.1; echo heeded; exit 0" TERM; echo ready; while true; do sleep 0.02; done';
    const started = await start(command);
    await expect.poll(() => bench.table.read(THREAD, started.processId, 0).page.output).toBe('ready\n');
    const { meta, page } = await bench.table.stop(THREAD, started.processId, 0);
    expect(meta).toMatchObject({ state: 'terminated', errorCode: 'terminated' });
    expect(page.output.match(/asked|heeded/g)).toEqual(['asked', 'heeded']);
  });

  it('kills what does not heed the polite signal', async () => {
    const started = await start('trap "" TERM; echo ready; while true; do sleep 0.05; done');
    await expect.poll(() => bench.table.read(THREAD, started.processId, 0).page.output).toBe('ready\n');
    expect((await bench.table.stop(THREAD, started.processId, 0)).meta.state).toBe('terminated');
    expect(groupRuns(started.pid ?? 0)).toBe(false);
  });
});

describe('reading', () => {
  it('refuses by code', async () => {
    const { meta, page } = await finish('echo x');
    const { processId } = meta;
    expect(await codeOf(() => bench.table.read(THREAD, processId, page.nextCursor))).toBe('ok');
    expect(await codeOf(() => bench.table.read(THREAD, processId, page.nextCursor + 1))).toBe('invalid_cursor');
    expect(await codeOf(() => bench.table.read(THREAD, 'process_none', 0))).toBe('process_not_found');
    expect(await codeOf(() => bench.table.read('thread_other', processId, 0))).toBe('process_not_found');
    expect(await codeOf(() => bench.table.read(THREAD, `../${THREAD}/${processId}`, 0))).toBe('process_not_found');
  });

  it('goes on while the thread of a running command is kept apart', async () => {
    const { processId } = await start('sleep 300');
    expect(await codeOf(() => bench.table.read('thread_other', processId, 0))).toBe('process_not_found');
    expect(await codeOf(() => bench.table.stop('thread_other', processId, 0))).toBe('process_not_found');
    expect(bench.table.read(THREAD, processId, 0).meta.state).toBe('running');
  });
});

describe('after a restart', () => {
  function restart(): void {
    bench.table.close();
    bench = makeProcessTable(root);
  }

  it('a living command is taken over with its output, and can be stopped', async () => {
    const started = await start('echo before; while [ ! -e go ]; do sleep 0.02; done; echo after; exec sleep 300');
    restart();
    writeFileSync(join(root, 'go'), '');
    await bench.table.adopt();
    expect(bench.table.read(THREAD, started.processId, 0).meta).toMatchObject({ state: 'running', pid: started.pid });
    await expect.poll(() => bench.table.read(THREAD, started.processId, 0).page.output).toBe('before\nafter\n');
    const { meta } = await bench.table.stop(THREAD, started.processId, 0);
    expect(meta.state).toBe('terminated');
    expect(groupRuns(started.pid ?? 0)).toBe(false);
    expect(bench.facts.states(started.processId).at(-1)).toBe('terminated');
  });

  it.each([
    ['exit 0', { state: 'exited', exitCode: 0, errorCode: null }],
    ['exit 7', { state: 'exited', exitCode: 7, errorCode: 'nonzero_exit' }],
    ['kill -9 $$', { state: 'terminated', exitCode: null, errorCode: 'killed_by_signal' }],
  ])('a command that was taken over and ends by %s is known to have done so', async (end, known) => {
    const started = await start(`while [ ! -e go ]; do sleep 0.02; done; ${end}`);
    restart();
    await bench.table.adopt();
    writeFileSync(join(root, 'go'), '');
    const { meta } = await bench.table.wait(THREAD, started.processId, 0, 20_000, never);
    expect(meta).toMatchObject(known);
  });

  it('a command that was taken over and killed with all of its group is unknown', async () => {
    const started = await start('exec sleep 300');
    restart();
    await bench.table.adopt();
    kill(started.pid ?? 0);
    const { meta } = await bench.table.wait(THREAD, started.processId, 0, 20_000, never);
    expect(meta).toMatchObject({ state: 'unknown', exitCode: null, errorCode: 'exit_unobserved' });
  });

  it('a command that ended while no runner was there has the end that its shell recorded', async () => {
    const started = await start('while [ ! -e go ]; do sleep 0.02; done; echo bye; exit 5');
    restart();
    const goneAt = Date.now();
    writeFileSync(join(root, 'go'), '');
    await expect.poll(() => groupRuns(started.pid ?? 0)).toBe(false);
    const endedBy = Date.now();
    await bench.table.adopt();
    const { meta, page } = bench.table.read(THREAD, started.processId, 0);
    expect(meta).toMatchObject({ state: 'exited', exitCode: 5, errorCode: 'nonzero_exit' });
    expect(page.output).toBe('bye\n');
    // Files have their times from a clock that ticks every few milliseconds.
    expect(Date.parse(meta.finishedAt ?? '')).toBeGreaterThanOrEqual(goneAt - 20);
    expect(Date.parse(meta.finishedAt ?? '')).toBeLessThanOrEqual(endedBy);
    expect(bench.facts.states(started.processId)).toEqual(['exited']);
  });

  it.each(['', '0', 'x\n', '0\n0\n'])('a record of the end that holds %j counts for nothing', async (text) => {
    const { meta } = await finish('true');
    bench.files.save({ ...meta, state: 'running', finishedAt: null });
    writeFileSync(exitFile(meta), text);
    restart();
    await bench.table.adopt();
    expect(bench.table.read(THREAD, meta.processId, 0).meta).toMatchObject({
      state: 'unknown',
      errorCode: 'process_lost',
    });
  });

  it('a dead command is settled as unknown, and its output stays readable', async () => {
    const started = await start('echo words; exec sleep 300');
    await expect.poll(() => bench.table.read(THREAD, started.processId, 0).page.output).toBe('words\n');
    restart();
    kill(started.pid ?? 0);
    await expect.poll(() => groupRuns(started.pid ?? 0)).toBe(false);
    await bench.table.adopt();
    const { meta, page } = bench.table.read(THREAD, started.processId, 0);
    expect(meta).toMatchObject({ state: 'unknown', errorCode: 'process_lost' });
    expect(page.output).toBe('words\n');
    expect(bench.facts.states(started.processId)).toEqual(['unknown']);
  });

  it('a start that was cut off before a pid was known is unknown', async () => {
    const { meta } = await finish('true');
    writeFileSync(exitFile(meta), '');
    const cut: ProcessMeta = { ...meta, state: 'unknown', errorCode: 'start_pending', pid: null, finishedAt: null };
    bench.files.save(cut);
    restart();
    await bench.table.adopt();
    expect(bench.table.read(THREAD, meta.processId, 0).meta.errorCode).toBe('start_interrupted');
  });

  it('another process with the same pid is not taken for the command', async () => {
    const { meta } = await finish('true');
    writeFileSync(exitFile(meta), '');
    const other = await start('exec sleep 300');
    const running = bench.files.load(THREAD, other.processId);
    const { pid, bootId } = other;
    const startMark = running?.startMark ?? 0;
    const claims = [
      { pid, bootId, startMark: startMark - 6000 },
      { pid, bootId: 'another-boot', startMark },
      { pid, bootId, startMark: null },
      { pid: process.pid, bootId, startMark },
    ];
    for (const claim of claims) {
      bench.files.save({ ...meta, state: 'running', ...claim });
      const fresh = makeProcessTable(root);
      await fresh.table.adopt();
      expect(fresh.files.load(THREAD, meta.processId)?.errorCode).toBe('process_lost');
      fresh.table.close();
    }
    expect(groupRuns(pid ?? 0)).toBe(true);
  });

  it('commands of another runner and ones that ended before are left alone', async () => {
    const { meta } = await finish('true');
    bench.files.save({ ...meta, state: 'running', runnerId: 'other' });
    const before = readFileSync(join(root, 'processes', THREAD, `${meta.processId}.json`), 'utf8');
    restart();
    await bench.table.adopt();
    expect(readFileSync(join(root, 'processes', THREAD, `${meta.processId}.json`), 'utf8')).toBe(before);
    expect(bench.facts.records).toEqual([]);
  });
});

const run = (name: Parameters<typeof runTool>[0], args: unknown, other: Partial<ToolContext> = {}) =>
  runTool(name, args, makeContext(root, other), {
    locks: new PathLocks(),
    processes: bench.table,
    report: (error) => {
      throw error;
    },
  });

describe('process tools', () => {
  it('start, wait, read and stop a command', async () => {
    const started = await run('process_start', { command: 'echo hello; read line; exec sleep 300' });
    const { processId } = started.details;
    expect(started.ok).toBe(true);
    expect(Object.keys(started.details).sort()).toEqual(
      ['processId', 'state', 'exitCode', 'cwd', 'pid', 'startedAt', 'finishedAt']
        .concat(['cursor', 'nextCursor', 'hasMore', 'truncated', 'errorCode'])
        .sort(),
    );
    expect(started.details).toMatchObject({ state: 'running', cwd: root, cursor: 0, nextCursor: 0, errorCode: null });
    const waited = await run('process_wait', { processId, timeoutMs: 1 });
    expect(waited).toMatchObject({ ok: true, details: { state: 'running', errorCode: null } });
    await expect.poll(async () => (await run('process_read', { processId })).output).toBe('hello\n');
    const stopped = await run('process_stop', { processId, cursor: 6 });
    expect(stopped).toMatchObject({ ok: true, output: '', details: { state: 'terminated', errorCode: 'terminated' } });
    expect(await run('process_read', { processId })).toMatchObject({ ok: false, output: 'hello\n' });
  });

  it('count only a good end as success', async () => {
    for (const [command, ok] of [
      ['exit 0', true],
      ['exit 1', false],
    ] as const) {
      const { details } = await run('process_start', { command }, { itemId: `item_${command}` });
      expect((await run('process_wait', { processId: details.processId, timeoutMs: 60_000 })).ok).toBe(ok);
    }
  });

  it('answer a cancelled wait as cancelled', async () => {
    const { details } = await run('process_start', { command: 'sleep 300' });
    const signal = AbortSignal.timeout(1);
    const waited = await run('process_wait', { processId: details.processId, timeoutMs: 60_000 }, { signal });
    expect(waited).toMatchObject({ ok: false, cancelled: true, details: { state: 'running', errorCode: 'cancelled' } });
    await run('process_stop', { processId: details.processId });
  });

  it('hold the bounds of their arguments', async () => {
    const code = async (name: Parameters<typeof runTool>[0], args: unknown) =>
      (await run(name, args)).details.errorCode;
    expect(await code('process_start', { command: '' })).toBe('invalid_arguments');
    expect(await code('process_start', { command: `: ${'x'.repeat(32_767)}` })).toBe('invalid_arguments');
    expect(await code('process_start', { command: `: ${'x'.repeat(32_766)}` })).toBeNull();
    expect(await code('process_start', { command: 'a\0b' })).toBe('invalid_arguments');
    expect(await code('process_start', { command: 'true', cwd: 'missing' })).toBe('invalid_cwd');
    expect(await code('process_start', { command: 'true', cwd: 'a\0b' })).toBe('invalid_cwd');
    expect(await code('process_wait', { processId: 'p', timeoutMs: 60_001 })).toBe('invalid_arguments');
    expect(await code('process_wait', { processId: 'p', timeoutMs: 60_000 })).toBe('process_not_found');
    expect(await code('process_read', { processId: 'x'.repeat(129) })).toBe('invalid_arguments');
    expect(await code('process_read', { processId: 'x'.repeat(128) })).toBe('process_not_found');
    expect(await code('process_read', { processId: 'p', cursor: true })).toBe('invalid_arguments');
    expect(await code('process_stop', { processId: 'p', cursor: -1 })).toBe('invalid_arguments');
  });
});
