import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { publicKeyOf, signAuthorization } from '@rookery/bus';
import {
  AppError,
  canonicalSha256,
  commandSubject,
  DEFAULT_AGENT,
  DEFAULT_WORLD,
  type ToolCallState,
  type Workspace,
} from '@rookery/protocol';
import { openDatabase } from '@rookery/read-model';
import type { RunningService } from '@rookery/service';
import { eventually } from '@rookery/testkit';
import { start } from '@rookery/tool-runner';
import { groupRuns, Receipts, toolResult } from '@rookery/tool-runner/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { RunnerHouse, THREAD } from './runner-house.ts';

let house: RunnerHouse;
let runner: RunningService;

beforeAll(async () => {
  house = await RunnerHouse.open();
  runner = await house.startRunner();
});
afterAll(async () => {
  await runner?.stop();
  await house?.close();
});

const codeOf = (outcome: Promise<unknown>): Promise<string> =>
  outcome.then(
    () => 'ok',
    (error: unknown) => (error instanceof AppError ? error.code : String(error)),
  );
const settled = {
  type: 'run.settled',
  payload: { status: 'cancelled', settledAt: '2026-11-30T12:00:00.000Z', reasonCode: 'x' },
};
const inspect = (itemId: string, waitMs = 0) => house.command<ToolCallState>('inspect', { itemId, waitMs });
const stopProcess = (processId: unknown) => house.command('process.stop', { threadId: THREAD, processId });

describe('a tool call over NATS', () => {
  it('is described, run, and answered again from its receipt', async () => {
    const { tools } = await house.command<{ tools: { name: string; mutating: boolean }[] }>('describe', {});
    expect(tools.map((tool) => tool.name)).toContain('process_start');
    const call = await house.call('write', { filePath: 'notes.txt', content: 'one' });
    const first = await house.invoke(call);
    expect(first).toMatchObject({ state: 'done', result: { toolCallId: 'call_1', toolName: 'write', ok: true } });
    writeFileSync(join(house.workspace, 'notes.txt'), 'changed since');
    expect(await house.invoke(call)).toEqual(first);
    expect(await inspect(call.itemId)).toEqual(first);
    expect(house.file('notes.txt')).toBe('changed since');
  });

  it('runs once, however often and by however many it is sent at the same time', async () => {
    const call = await house.call('process_start', { command: 'echo x >> effects' });
    const states = await Promise.all(Array.from({ length: 8 }, () => house.invoke(call)));
    expect(new Set(states.map((state) => JSON.stringify(state))).size).toBe(1);
    const processId = (await house.facts(String(resultOf(states[0]).processId))).at(-1)?.processId ?? '';
    await house.factOf(processId, 'exited');
    expect(house.file('effects')).toBe('x\n');
  });

  it('with other arguments is refused', async () => {
    const call = await house.call('write', { filePath: 'a', content: '1' });
    await house.invoke(call);
    const other = { filePath: 'a', content: '2' };
    const changed = { ...call, arguments: other, argsSha256: canonicalSha256(other) };
    expect(await codeOf(house.invoke(changed))).toBe('TOOL_CONFLICT');
    expect(await codeOf(house.invoke({ ...call, arguments: other }))).toBe('INVALID_PARAMS');
    expect(house.file('a')).toBe('1');
  });

  it('of a run that is settled or held by another does nothing', async () => {
    const args = { filePath: 'stale', content: 'x' };
    const over = await house.call('write', args);
    await house.commitRun(over.runId, over.intentSeq, settled);
    expect(await codeOf(house.invoke(over))).toBe('TOOL_STALE');
    const taken = await house.call('write', args);
    await house.commitRun(
      taken.runId,
      taken.intentSeq,
      { type: 'run.claimed', payload: { holder: 'b', epoch: 2 } },
      'b',
    );
    expect(await codeOf(house.invoke(taken))).toBe('TOOL_STALE');
    const forged = await house.call('write', args);
    expect(await codeOf(house.invoke({ ...forged, holder: 'b' }))).toBe('TOOL_STALE');
    expect(await codeOf(house.invoke({ ...forged, runId: 'run_nobody' }))).toBe('TOOL_STALE');
    expect(existsSync(join(house.workspace, 'stale'))).toBe(false);
    expect(await inspect(over.itemId)).toEqual({ state: 'never_seen' });
  });

  it('that takes long is answered as running, then by inspect, and can be cancelled', async () => {
    const { processId } = await house.run('process_start', { command: 'sleep 300' });
    const wait = await house.call('process_wait', { processId, timeoutMs: 2000 });
    expect(await house.invoke(wait)).toEqual({ state: 'running' });
    expect(await inspect(wait.itemId, 5000)).toMatchObject({ state: 'done', result: { state: 'running', ok: true } });
    const longer = await house.call('process_wait', { processId, timeoutMs: 60_000 });
    expect(await house.invoke(longer)).toEqual({ state: 'running' });
    await house.command('cancel', { itemId: longer.itemId });
    expect(await inspect(longer.itemId, 5000)).toMatchObject({ state: 'done', result: { cancelled: true, ok: false } });
    await stopProcess(processId);
  });

  it('refuses params and methods that it does not know', async () => {
    const call = await house.call('read', { filePath: 'a' });
    expect(await codeOf(house.command('invoke', { ...call, extra: 1 }))).toBe('INVALID_PARAMS');
    expect(await codeOf(house.command('inspect', {}))).toBe('INVALID_PARAMS');
    expect(await codeOf(house.command('cancel', { itemId: '' }))).toBe('INVALID_PARAMS');
    expect(await codeOf(house.command('nonsense', {}))).toBe('METHOD_NOT_FOUND');
    expect(await house.run('no_such_tool', {})).toMatchObject({ ok: false, errorCode: 'unknown_tool' });
  });

  it('with a long output leaves a file that read can go on with', async () => {
    writeFileSync(join(house.workspace, 'long'), `${'x'.repeat(200)}\n`.repeat(900));
    const found = await house.run('grep', { pattern: 'x', path: 'long' });
    expect(found).toMatchObject({ ok: true, truncated: true, artifactLines: 900 });
    const next = await house.run('read', { filePath: found.artifactPath, offset: 201, limit: 1 });
    expect(next.output).toContain('201: long:201:x');
  });
});

describe('the permission profile', () => {
  const signer = (): string => house.nats.seed('gateway');
  const sign = (profileId: string, clientRequestId = 'request_1') =>
    signAuthorization(signer(), { threadId: THREAD, clientRequestId, profileId });
  const read = async (authorization?: ReturnType<typeof sign>) =>
    codeOf(house.invoke(await house.call('list', {}), authorization));

  it('is what an edge has signed, else the default, and nothing that the agent says', async () => {
    const edge = { agentId: DEFAULT_AGENT, world: DEFAULT_WORLD, publicKey: publicKeyOf(signer()) };
    await house.configure('edges', { homeId: null, edges: { web: edge } });
    await house.configure('permissions', { defaultProfile: 'read-only' });
    try {
      await eventually('the new default', async () => (await read()) === 'TOOL_DENIED');
      expect(await read(sign('danger-full-access'))).toBe('ok');
      expect(await read({ ...sign('read-only'), profileId: 'danger-full-access' })).toBe('TOOL_DENIED');
      expect(await read(sign('danger-full-access', 'request_2'))).toBe('TOOL_DENIED');
      const claim = { threadId: THREAD, clientRequestId: 'request_1', profileId: 'danger-full-access' };
      expect(await read(signAuthorization(house.nats.seed('agent'), claim))).toBe('TOOL_DENIED');
    } finally {
      await house.configure('permissions', { defaultProfile: 'danger-full-access' });
      await eventually('the old default', async () => (await read()) === 'ok');
    }
  });
});

describe('processes', () => {
  it('have their facts in the journal, intent first', async () => {
    const { processId } = await house.run('process_start', { command: 'echo out; echo err >&2; exit 4' });
    await house.factOf(String(processId), 'exited');
    const facts = await house.facts(String(processId));
    expect(facts[0]).toMatchObject({ state: 'unknown', errorCode: 'start_pending', pid: null });
    expect(facts.at(-1)).toMatchObject({
      state: 'exited',
      exitCode: 4,
      errorCode: 'nonzero_exit',
      output: 'out\nerr\n',
    });
    expect(facts.filter((fact) => fact.finishedAt !== null)).toHaveLength(1);
  });

  it('are read and stopped by RPC within their thread', async () => {
    const { processId } = await house.run('process_start', { command: 'echo ready; exec sleep 300' });
    const read = (params: object) => house.command<Record<string, unknown>>('process.read', params);
    const ready = await eventually('its output', async () => {
      const page = await read({ threadId: THREAD, processId });
      return page.output === 'ready\n' ? page : null;
    });
    expect(Object.keys(ready).sort()).toEqual(
      ['processId', 'state', 'exitCode', 'cwd', 'pid', 'startedAt', 'finishedAt', 'output']
        .concat(['cursor', 'nextCursor', 'hasMore', 'truncated', 'errorCode'])
        .sort(),
    );
    expect(await codeOf(read({ threadId: THREAD, processId, cursor: 99 }))).toBe('INVALID_CURSOR');
    expect(await codeOf(read({ threadId: 'thread_other', processId }))).toBe('PROCESS_NOT_FOUND');
    expect(await codeOf(read({ threadId: THREAD, processId, cursor: -1 }))).toBe('INVALID_PARAMS');
    expect(await stopProcess(processId)).toMatchObject({ state: 'terminated', errorCode: 'terminated' });
    expect(await stopProcess(processId)).toMatchObject({ state: 'terminated' });
    await house.factOf(String(processId), 'terminated');
  });
});

describe('workspaces', () => {
  it('are existing folders or managed ones', async () => {
    const prepare = (workspace: object | null) =>
      house.command<Workspace>('workspace.prepare', { threadId: THREAD, workspace });
    mkdirSync(join(house.workspace, 'project'));
    const rootUri = join(house.workspace, 'project');
    expect(await prepare({ kind: 'project', rootUri })).toMatchObject({ kind: 'project', name: 'project', rootUri });
    expect(await codeOf(prepare({ rootUri: join(rootUri, 'missing') }))).toBe('WORKSPACE_INVALID');
    const managed = await prepare(null);
    expect(managed.rootUri).toMatch(/\/managed\/\d{4}-\d\d-\d\d\/\d{6}-ccddeeff$/);
    expect(await prepare(null)).toEqual(managed);
    expect(existsSync(managed.rootUri)).toBe(true);
  });
});

describe('the runner', () => {
  it('lets nobody else into its folder', async () => {
    expect(await codeOf(start(house.config()))).toBe('HOME_LOCKED');
  });

  it('keeps receipts and commands over an orderly restart', async () => {
    const write = await house.call('write', { filePath: 'kept', content: 'x' });
    const written = await house.invoke(write);
    const started = await house.run('process_start', { command: 'exec sleep 300' });
    await runner.stop();
    expect(groupRuns(Number(started.pid))).toBe(true);
    runner = await house.startRunner();
    expect(await inspect(write.itemId)).toEqual(written);
    const { processId } = started;
    expect(await house.run('process_read', { processId })).toMatchObject({
      ok: true,
      pid: started.pid,
      state: 'running',
    });
    await stopProcess(processId);
    expect(groupRuns(Number(started.pid))).toBe(false);
  });

  it('drops what does not come as a command to it', async () => {
    const subject = commandSubject('tool', 'describe', 'main');
    const request = {
      v: 1,
      method: 'inspect',
      params: {},
      commandId: 'x',
      agentId: DEFAULT_AGENT,
      world: DEFAULT_WORLD,
    };
    const reply = await house.agent.nc.request(subject, JSON.stringify(request), { timeout: 5000 });
    expect(reply.json()).toMatchObject({ ok: false, error: { code: 'INVALID_REQUEST' } });
  });
});

describe('a runner that is killed', () => {
  let child: ChildProcess | null = null;
  beforeAll(async () => {
    await house.bundles();
    await runner.stop();
  });
  afterEach(async () => {
    child?.kill('SIGKILL');
    await hasEnded();
    child = null;
  });
  afterAll(async () => {
    runner = await house.startRunner();
  });
  const hasEnded = () =>
    eventually('its end', () => child === null || child.exitCode !== null || child.signalCode !== null, {
      timeoutMs: 20_000,
    });

  it('finds living commands again, settles dead ones, and runs nothing twice', async () => {
    child = await house.spawnRunner();
    const command = 'echo x >> ran; echo before; while [ ! -e go ]; do sleep 0.05; done; echo after; exec sleep 300';
    const living = await house.run('process_start', { command });
    const dying = await house.run('process_start', { command: 'exec sleep 300' });
    // A stop that is not heeded is a call with effects in flight; a wait is a reader in flight.
    const stubborn = await house.run('process_start', {
      command: 'trap "" TERM; echo ready; while true; do sleep 0.05; done',
    });
    await eventually('the trap', async () => (await pageOf(stubborn.processId)).output === 'ready\n');
    const stop = await house.call('process_stop', { processId: stubborn.processId });
    const wait = await house.call('process_wait', { processId: living.processId, timeoutMs: 60_000 });
    const inFlight = await Promise.all([house.invoke(stop), house.invoke(wait)]);
    expect(inFlight).toEqual([{ state: 'running' }, { state: 'running' }]);
    child.kill('SIGKILL');
    await hasEnded();
    process.kill(-Number(dying.pid), 'SIGKILL');
    writeFileSync(join(house.workspace, 'go'), '');
    child = await house.spawnRunner();

    expect(await inspect(stop.itemId)).toEqual({ state: 'lost' });
    expect(await house.invoke(stop)).toEqual({ state: 'lost' });
    expect(await inspect(wait.itemId)).toEqual({ state: 'never_seen' });
    expect(await house.factOf(String(dying.processId), 'unknown')).toMatchObject({ errorCode: 'process_lost' });
    await eventually('what it wrote meanwhile', async () => {
      const page = await pageOf(living.processId);
      return page.state === 'running' && page.output === 'before\nafter\n';
    });
    await stopProcess(living.processId);
    await stopProcess(stubborn.processId);
    expect(house.file('ran')).toBe('x\n');
    expect([living, stubborn].map(({ pid }) => groupRuns(Number(pid)))).toEqual([false, false]);
  });

  it('between an effect and its receipt has lost the call, and does not repeat it', async () => {
    writeFileSync(join(house.workspace, 'list'), 'end\n');
    const edit = await house.call('edit', { filePath: 'list', oldString: 'end', newString: 'one\nend' });
    child = await house.spawnRunner('tool:after-effect');
    const unanswered = codeOf(house.invoke(edit));
    await hasEnded();
    child = await house.spawnRunner();
    expect(await inspect(edit.itemId)).toEqual({ state: 'lost' });
    expect(await house.invoke(edit)).toEqual({ state: 'lost' });
    expect(house.file('list')).toBe('one\nend\n');
    expect(await unanswered).toBe('SERVICE_UNAVAILABLE');
  });

  it('between the start of a command and its receipt still knows the command', async () => {
    const start = await house.call('process_start', { command: 'echo x >> started; exec sleep 300' });
    child = await house.spawnRunner('tool:after-effect');
    const unanswered = codeOf(house.invoke(start));
    await hasEnded();
    child = await house.spawnRunner();
    const state = await inspect(start.itemId);
    expect(state).toMatchObject({ state: 'done', result: { ok: true, state: 'running' } });
    expect(await house.invoke(start)).toEqual(state);
    await stopProcess(resultOf(state).processId);
    expect(house.file('started')).toBe('x\n');
    expect(await unanswered).toBe('SERVICE_UNAVAILABLE');
  });
});

const pageOf = (processId: unknown) => house.run('process_read', { processId });

function resultOf(state: ToolCallState | undefined): Record<string, unknown> {
  if (state?.state !== 'done') throw new Error(`the call is ${state?.state}`);
  return state.result;
}

describe('receipts that cannot be written', () => {
  it('do not keep the runner from starting: what it cannot tidy is reported', async () => {
    const own = await RunnerHouse.open();
    const config = own.config();
    const path = join(config.folder, 'receipts.db');
    mkdirSync(config.folder, { recursive: true });
    const receipts = new Receipts(path, 'before');
    const call = { itemId: 'item_old', toolName: 'write', argsSha256: '0', callId: 'c', threadId: THREAD, runId: 'r' };
    receipts.begin(call, 0);
    receipts.store(
      { ...call, itemId: 'item_done' },
      toolResult('c', 'write', { ok: true, output: '', details: {} }),
      0,
    );
    receipts.close();
    const db = openDatabase(path, { synchronous: 'FULL' });
    // As a full disk answers, whatever is changed.
    db.exec("create trigger t1 before delete on receipts begin select raise(abort, 'full'); end");
    db.exec("create trigger t2 before update on receipts begin select raise(abort, 'full'); end");
    db.close();
    const started = await start(config);
    try {
      const ask = (itemId: string) => own.command<ToolCallState>('inspect', { itemId, waitMs: 0 });
      expect(await ask('item_old')).toEqual({ state: 'lost' });
      expect(await ask('item_done')).toMatchObject({ state: 'done' });
    } finally {
      await started.stop();
      await own.close();
    }
  });
});
