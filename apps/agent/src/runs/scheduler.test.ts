import { AppError, productionTimings } from '@rookery/protocol';
import { createLogger } from '@rookery/service';
import { expect, test } from 'vitest';
import type { AgentDeps } from '../deps.ts';
import { Scheduler } from './scheduler.ts';

test('a steer that cannot be submitted keeps no other one waiting', async () => {
  const steers = ['bad', 'good'].map((runId) => ({ runId, threadId: `thread_${runId}` }));
  const db = { prepare: (sql: string) => ({ all: () => (sql.includes('FROM pending_steers') ? steers : []) }) };
  const deps = {
    instance: 'host-0-boot',
    timings: { ...productionTimings, drainMs: 1 },
    log: createLogger('agent', 'host-0-boot', { ROOKERY_LOG: 'silent' }),
    bus: { onReconnect: () => () => undefined, js: { consumers: { get: () => new Promise(() => undefined) } } },
    model: { read: (query: (reader: typeof db) => unknown) => query(db) },
  } as unknown as AgentDeps;
  const submitted: string[] = [];
  await new Promise<void>((resolve) => {
    const scheduler = new Scheduler(deps, 1, async ({ runId }) => {
      if (runId === 'bad') throw new AppError('SERVICE_UNAVAILABLE');
      submitted.push(runId);
      resolve();
    });
    scheduler.start();
    void scheduler.stop();
  });
  expect(submitted).toEqual(['good']);
});
