import type { AppendResult } from '@rookery/journal';
import { type CommandRequest, type Commit, productionTimings } from '@rookery/protocol';
import { expect, test } from 'vitest';
import type { AgentDeps } from '../deps.ts';
import { threadCommands } from './threads.ts';

const at = '2026-01-01T00:00:00.000Z';

/** A view that knows the thread as it was at first, until it is waited for. */
function laggingView(first: object, now: object) {
  const row = {
    ...{ id: 'thread_a', world: 'home', title: 'old', default_branch_id: 'branch_a', workspace_json: null },
    ...{ created_at: at, updated_at: at, archived_at: null, params_sha256: '' },
  };
  let shown = { ...row, ...first };
  let head = 1;
  const stored: Commit[] = [];
  const db = {
    prepare: (sql: string) => ({ get: () => (sql.includes('FROM threads') ? shown : { n: 0, ordinal: 0 }) }),
    damageOf: () => null,
    head: () => ({ streamSeq: head, at }),
  };
  const append = async ({ commit }: { commit: Commit }): Promise<AppendResult> => {
    stored.push(commit);
    return { outcome: 'committed', streamSeq: 3, duplicate: false };
  };
  const deps = {
    homeId: '00000000-0000-4000-8000-000000000000',
    instance: 'host-0-boot',
    timings: productionTimings,
    journal: { append, info: async () => ({ lastSeq: 2 }) },
    model: {
      read: (query: (reader: typeof db) => unknown) => query(db),
      state: () => ({ state: 'live' }),
      waitFor: async () => {
        shown = { ...row, ...now };
        head = 2;
      },
    },
  } as unknown as AgentDeps;
  return { deps, stored };
}

test.each([
  ['thread.rename', { title: 'new' }, { title: 'new' }, { title: 'other' }],
  ['thread.archive', {}, { archived_at: at }, { archived_at: null }],
  ['thread.unarchive', {}, { archived_at: null }, { archived_at: at }],
])('%s looks again before it says that nothing is to be done', async (method, params, first, now) => {
  const { deps, stored } = laggingView(first, now);
  const request: CommandRequest = {
    ...{ v: 1, method, commandId: 'c', agentId: 'main', world: 'home' },
    params: { threadId: 'thread_a', ...params },
  };
  const { result } = (await threadCommands(deps)[method]?.(request)) ?? {};
  expect(result).toMatchObject({ changed: true });
  expect(stored).toHaveLength(1);
});

test('what is so already, and stays so, changes nothing', async () => {
  const { deps, stored } = laggingView({ archived_at: at }, { archived_at: at });
  const request: CommandRequest = {
    ...{ v: 1, method: 'thread.archive', commandId: 'c', agentId: 'main', world: 'home' },
    params: { threadId: 'thread_a' },
  };
  const { result } = (await threadCommands(deps)['thread.archive']?.(request)) ?? {};
  expect(result).toMatchObject({ changed: false, event: null });
  expect(stored).toHaveLength(0);
});
