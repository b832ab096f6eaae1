import { AppError, type StoredCommit } from '@rookery/protocol';
import { Redactor } from '@rookery/secrets';
import { createLogger } from '@rookery/service';
import { describe, expect, it } from 'vitest';
import type { AgentDeps } from '../deps.ts';
import type { RunRow } from '../queries.ts';
import { RunWriter } from './writer.ts';

const run = {
  ...{ runId: 'run_1', turnId: 'turn_1', threadId: 'thread_1', branchId: 'branch_1' },
  ...{ world: 'home', agentId: 'main' },
} as RunRow;

/** A writer over a journal that answers by these functions. */
function writerOver(journal: Pick<AgentDeps['journal'], 'append' | 'readLast'>): { writer: RunWriter; ends: string[] } {
  const ends: string[] = [];
  const deps = {
    journal,
    instance: 'test-0-a',
    timings: { leaseRefreshMs: 20 },
    models: { redactor: new Redactor() },
    log: createLogger('agent', 'test-0-a', { ROOKERY_LOG: 'silent' }),
  } as unknown as AgentDeps;
  const writer = new RunWriter(
    deps,
    run,
    1,
    () => ends.push('effect'),
    (error) => ends.push(error.code),
  );
  return { writer, ends };
}

const events = [{ type: 'run.state_changed', payload: { status: 'running' } }] as Parameters<RunWriter['write']>[0];
const effects = [{ type: 'stop_work' }] as Parameters<RunWriter['write']>[1];
const late = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('RunWriter', () => {
  it('lets no effect follow a late commit behind which the run was settled, also where it could not look at once', async () => {
    let appends = 0;
    let looks = 0;
    const { writer, ends } = writerOver({
      append: async () => {
        appends += 1;
        if (appends === 1) await late(40);
        return { outcome: 'committed', streamSeq: 7, duplicate: appends > 1 };
      },
      readLast: async () => {
        looks += 1;
        if (looks === 1) throw new AppError('SERVICE_UNAVAILABLE');
        return { streamSeq: 8 } as StoredCommit;
      },
    });
    await expect(writer.write(events, effects)).rejects.toMatchObject({ code: 'RUN_SETTLED' });
    expect(ends).toEqual(['RUN_SETTLED']);
  });

  it('stores what is written at the very moment at which the commit before is', async () => {
    let streamSeq = 0;
    const { writer } = writerOver({
      append: async () => {
        streamSeq += 1;
        return { outcome: 'committed', streamSeq, duplicate: false };
      },
      readLast: async () => null,
    });
    expect(await writer.write(events, [])).toBe(1);
    expect(await writer.write(events, [])).toBe(2);
    expect(await writer.write(events, [])).toBe(3);
  });

  it('waits for a journal that is away with the same commit', async () => {
    const ids: string[] = [];
    const { writer, ends } = writerOver({
      append: async ({ commit }) => {
        ids.push(commit.id);
        if (ids.length === 1) throw new AppError('INTERNAL', { cause: new Error('what the client threw') });
        return { outcome: 'committed', streamSeq: 7, duplicate: false };
      },
      readLast: async () => null,
    });
    expect(await writer.write(events, effects)).toBe(7);
    expect(new Set(ids).size).toBe(1);
    expect(ends).toEqual(['effect']);
  });
});
