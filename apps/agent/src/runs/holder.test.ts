import type { AppendResult } from '@rookery/journal';
import { draft } from '@rookery/kernel';
import { type Commit, type Item, productionTimings, type RunConfig } from '@rookery/protocol';
import { Redactor } from '@rookery/secrets';
import { expect, test } from 'vitest';
import type { AgentDeps } from '../deps.ts';
import type { RunRow } from '../queries.ts';
import { RunHolder } from './holder.ts';
import { RunWriter } from './writer.ts';

const run = {
  ...{ runId: 'run_a', turnId: 'turn_a', threadId: 'thread_a', branchId: 'branch_a', world: 'home', agentId: 'main' },
  ...{ providerId: 'p', modelId: 'm', status: 'queued', holder: null, epoch: 0 },
  ...{ clientRequestId: 'r', authorization: null },
} satisfies RunRow;
const at = '2026-01-01T00:00:00.000Z';
const userItem: Item = {
  ...{ id: 'item_user', turnId: run.turnId, runId: run.runId, ordinal: 1, kind: 'message', role: 'user' },
  ...{ status: 'completed', content: 'hello', data: {}, createdAt: at, updatedAt: at },
};
const config = {
  tools: [],
  workspace: null,
  contextWindow: 32_768,
  instructions: { outputStyle: null, identityCore: 'An agent.', skillCatalog: null },
} as unknown as RunConfig;

/** A journal that stores a commit when it is told to, a view that knows one turn, and a model that says nothing. */
function parts(isHeld: () => boolean) {
  const stored: Commit[] = [];
  const waiting: (() => void)[] = [];
  const views: unknown[] = [{ config, items: [userItem] }, []];
  const append = async ({ commit }: { commit: Commit }): Promise<AppendResult> => {
    if (isHeld()) await new Promise<void>((resolve) => waiting.push(resolve));
    stored.push(commit);
    return { outcome: 'committed', streamSeq: stored.length, duplicate: false };
  };
  const deps = {
    homeId: '00000000-0000-4000-8000-000000000000',
    instance: 'host-0-boot',
    timings: productionTimings,
    journal: { append },
    model: { read: () => views.shift() },
    models: { redactor: new Redactor(), endpoint: () => new Promise(() => undefined) },
  } as unknown as AgentDeps;
  return { deps, stored, release: () => waiting.shift()?.() };
}

test('what is written by one who was just told that all is stored is stored too', async () => {
  const { deps, stored } = parts(() => false);
  const writer = new RunWriter(
    deps,
    run,
    1,
    () => undefined,
    () => undefined,
  );
  for (const delta of ['a', 'b', 'c']) await writer.write([draft('item.delta', { delta }, 'item_a')], []);
  expect(stored).toHaveLength(3);
});

test('a repeated steer is acknowledged when the first one is stored, and not before', async () => {
  let isHeld = false;
  const { deps, stored, release } = parts(() => isHeld);
  const holder = new RunHolder(deps, run, 1);
  expect(await holder.claim()).toBe(true);
  isHeld = true;
  const first = holder.steer('s1', 'more', 'command-1');
  const acknowledged: number[] = [];
  const again = holder.steer('s1', 'more', 'command-1').then((seq) => acknowledged.push(seq));
  await new Promise((resolve) => setImmediate(resolve));
  expect(acknowledged).toEqual([]);
  release();
  await again;
  expect(acknowledged).toEqual([await first]);
  expect(stored.flatMap((commit) => commit.events).filter((event) => event.type === 'run.steered')).toHaveLength(1);
});

test('the commit of a steer and of a cancel names its command, that of the own work the run', async () => {
  let isHeld = false;
  const { deps, stored, release } = parts(() => isHeld);
  const holder = new RunHolder(deps, run, 1);
  await holder.claim();
  isHeld = true;
  const steers = [holder.steer('s1', 'one', 'command-1'), holder.steer('s2', 'two', 'command-2')];
  await new Promise((resolve) => setImmediate(resolve));
  isHeld = false;
  release();
  await Promise.all(steers);
  await holder.cancel('command-3');
  expect(stored.map(({ cause }) => cause)).toEqual(['run-host-0-boot-1', 'command-1', 'command-2', 'command-3']);
  expect(stored.at(-1)?.events.map((event) => event.type)).toContain('run.settled');
});
