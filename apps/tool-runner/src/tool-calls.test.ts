import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, canonicalSha256, processIdOf, type ToolInvoke } from '@rookery/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Receipts } from './receipts.ts';
import { recoverCalls } from './recover-calls.ts';
import { makeProcessTable } from './testing/process-bench.ts';
import { makeContext, makeFolder } from './testing/tool-context.ts';
import type { ToolContext, ToolOutcome } from './tool-call.ts';
import { ToolCalls } from './tool-calls.ts';

let root: string;
let receipts: Receipts;
let ran: string[];
let calls: ToolCalls;
/** What a tool does before it is done. */
let work: (context: ToolContext) => Promise<void>;
let admit: () => Promise<void>;

function boot(name: string): void {
  receipts = new Receipts(join(root, 'receipts.db'), name);
  calls = new ToolCalls({
    receipts,
    userHome: root,
    admit: () => admit(),
    run: async (call, context): Promise<ToolOutcome> => {
      ran.push(call.itemId);
      await work(context);
      return { ok: true, output: `run ${ran.length}`, details: { truncated: false } };
    },
    afterEffect: () => {},
    now: Date.now,
  });
}

beforeEach(() => {
  root = makeFolder();
  ran = [];
  work = async () => {};
  admit = async () => {};
  boot('boot-1');
});
afterEach(() => {
  receipts.close();
  rmSync(root, { recursive: true, force: true });
});

function call(toolName: string, args: Record<string, unknown> = {}, itemId = 'item_1'): ToolInvoke {
  return {
    itemId,
    callId: 'call_1',
    toolName,
    arguments: args,
    argsSha256: canonicalSha256(args),
    threadId: 'thread_1',
    turnId: 'turn_1',
    runId: 'run_1',
    branchId: 'branch_1',
    stepOrdinal: 1,
    intentSeq: 1,
    holder: 'host-0-a',
    workspaceRoot: root,
    clientRequestId: 'request_1',
  };
}

const scope = { world: 'home', agentId: 'main', authorization: undefined };
const invoke = (request: ToolInvoke, withinMs = 20_000) => calls.invoke(request, scope, withinMs);
const codeOf = (outcome: Promise<unknown>): Promise<string> =>
  outcome.then(
    () => 'ok',
    (error: unknown) => (error instanceof AppError ? error.code : String(error)),
  );
const forever = () => new Promise<void>(() => {});
const done = (output: string, toolName = 'write') => ({
  state: 'done',
  result: { toolCallId: 'call_1', toolName, ok: true, output, cancelled: false, truncated: false },
});

describe('one call', () => {
  it('runs once: joined while it runs, answered from its receipt when it is done', async () => {
    const both = await Promise.all([invoke(call('write')), invoke(call('write'))]);
    expect(both).toEqual([done('run 1'), done('run 1')]);
    expect(await invoke(call('write'))).toEqual(done('run 1'));
    expect(await calls.inspect('item_1', 0)).toEqual(done('run 1'));
    expect(ran).toEqual(['item_1']);
  });

  it('is answered from its receipt also by the next start of the runner', async () => {
    await invoke(call('write'));
    receipts.close();
    boot('boot-2');
    expect(await invoke(call('write'))).toEqual(done('run 1'));
    expect(ran).toHaveLength(1);
  });

  it('with other arguments or another tool is refused, running or done', async () => {
    let finish = () => {};
    work = () => new Promise((resolve) => (finish = resolve));
    const first = invoke(call('write', { a: 1 }));
    await expect.poll(() => ran.length).toBe(1);
    expect(await codeOf(invoke(call('write', { a: 2 })))).toBe('TOOL_CONFLICT');
    finish();
    await first;
    expect(await codeOf(invoke(call('write', { a: 2 })))).toBe('TOOL_CONFLICT');
    expect(await codeOf(invoke(call('edit', { a: 1 })))).toBe('TOOL_CONFLICT');
    expect(await codeOf(invoke({ ...call('write', { a: 1 }), arguments: { a: 2 } }))).toBe('INVALID_PARAMS');
    expect(ran).toHaveLength(1);
  });

  it('that takes long answers running, and inspect waits for it', async () => {
    let finish = () => {};
    work = () => new Promise((resolve) => (finish = resolve));
    expect(await invoke(call('write'), 1)).toEqual({ state: 'running' });
    expect(await calls.inspect('item_1', 1)).toEqual({ state: 'running' });
    const waiting = calls.inspect('item_1', 20_000);
    finish();
    expect(await waiting).toEqual(done('run 1'));
  });

  it('that was never seen says so', async () => {
    expect(await calls.inspect('item_1', 0)).toEqual({ state: 'never_seen' });
    expect(await calls.cancel('item_1')).toEqual({ state: 'never_seen' });
  });
});

describe('a call that is not admitted', () => {
  it('does nothing and leaves no receipt', async () => {
    admit = () => Promise.reject(new AppError('TOOL_STALE'));
    expect(await codeOf(invoke(call('write')))).toBe('TOOL_STALE');
    expect(await calls.inspect('item_1', 0)).toEqual({ state: 'never_seen' });
    admit = async () => {};
    expect(await invoke(call('write'))).toEqual(done('run 1'));
  });

  it('is never seen also for one who waits for it', async () => {
    let refuse = () => {};
    admit = () => new Promise((_, reject) => (refuse = () => reject(new AppError('TOOL_STALE'))));
    expect(await invoke(call('write'), 1)).toEqual({ state: 'running' });
    const waiting = calls.inspect('item_1', 20_000);
    refuse();
    expect(await waiting).toEqual({ state: 'never_seen' });
  });
});

describe('after a crash', () => {
  async function crash(request: ToolInvoke): Promise<void> {
    work = forever;
    await invoke(request, 1);
    await expect.poll(() => ran.length).toBeGreaterThan(0);
    receipts.close();
    work = async () => {};
    boot('boot-2');
    recoverCalls(receipts, makeProcessTable(root).files);
  }

  it('a call with effects is lost and never runs again', async () => {
    await crash(call('write'));
    expect(await calls.inspect('item_1', 0)).toEqual({ state: 'lost' });
    expect(await invoke(call('write'))).toEqual({ state: 'lost' });
    expect(await codeOf(invoke(call('write', { other: 1 })))).toBe('TOOL_CONFLICT');
    expect(ran).toHaveLength(1);
  });

  it('a reader was never seen and may run again', async () => {
    await crash(call('read'));
    expect(await calls.inspect('item_1', 0)).toEqual({ state: 'never_seen' });
    expect(await invoke(call('read'))).toEqual(done('run 2', 'read'));
  });

  it('a start without a record of its command may run again, one that was begun is lost', async () => {
    await crash(call('process_start'));
    expect(await calls.inspect('item_1', 0)).toEqual({ state: 'never_seen' });
    const bench = makeProcessTable(root);
    bench.facts.failing = true;
    const context = makeContext(root);
    await bench.table.start({ command: 'true', cwd: root, background: false }, context).catch(() => undefined);
    ran = [];
    await crash(call('process_start'));
    expect(await calls.inspect('item_1', 0)).toEqual({ state: 'lost' });
  });

  it('a start whose command runs gives its result', async () => {
    const bench = makeProcessTable(root);
    const meta = await bench.table.start({ command: 'sleep 300', cwd: root, background: false }, makeContext(root));
    await crash(call('process_start'));
    const state = await calls.inspect('item_1', 0);
    const processId = processIdOf('run_1', 'item_1');
    expect(state).toMatchObject({ state: 'done', result: { ok: true, processId, pid: meta.pid, state: 'running' } });
    await bench.table.stop('thread_1', processId, 0);
  });

  it('a result that could not be written leaves the call lost', async () => {
    receipts.begin(call('write'), Date.now());
    expect(await calls.inspect('item_1', 0)).toEqual({ state: 'lost' });
  });
});

describe('ending', () => {
  const untilAborted = (context: ToolContext) =>
    new Promise<void>((resolve) => context.signal.addEventListener('abort', () => resolve(), { once: true }));

  it('cancel ends a reader, which is done then', async () => {
    work = untilAborted;
    const running = invoke(call('process_wait'));
    await expect.poll(() => ran.length).toBe(1);
    await calls.cancel('item_1');
    expect(await running).toEqual(done('run 1', 'process_wait'));
  });

  it('close takes no more calls, and leaves a reader to be sent again', async () => {
    work = untilAborted;
    const running = codeOf(invoke(call('process_wait')));
    await expect.poll(() => ran.length).toBe(1);
    await calls.close();
    expect(await running).toBe('SHUTTING_DOWN');
    expect(await calls.inspect('item_1', 0)).toEqual({ state: 'never_seen' });
    expect(await codeOf(invoke(call('write', {}, 'item_2')))).toBe('SHUTTING_DOWN');
  });

  it('close waits for a call with effects', async () => {
    let finish = () => {};
    work = () => new Promise((resolve) => (finish = resolve));
    const running = invoke(call('write'));
    await expect.poll(() => ran.length).toBe(1);
    const closing = calls.close();
    finish();
    await closing;
    expect(await running).toEqual(done('run 1'));
  });
});

describe('receipts', () => {
  it('are kept for 24 hours, and longer while a call runs', () => {
    const day = 24 * 60 * 60 * 1000;
    const result = { toolCallId: 'c', toolName: 'read', ok: true, output: '', cancelled: false };
    receipts.store(call('read', {}, 'item_old'), result, 1000);
    receipts.begin(call('write', {}, 'item_running'), 1000);
    receipts.prune(1000 + day);
    expect(receipts.find('item_old')).not.toBeNull();
    receipts.prune(1001 + day);
    expect(receipts.find('item_old')).toBeNull();
    expect(receipts.find('item_running')).toMatchObject({ state: 'running' });
  });

  it('of one item exist once', () => {
    receipts.begin(call('write'), 1);
    expect(() => receipts.begin(call('write'), 2)).toThrow();
  });
});
