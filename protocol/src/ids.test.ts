import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  branchIdOf,
  commandIdOf,
  memoryIdOf,
  processIdOf,
  runItemIdOf,
  steerFollowUpRequestId,
  steerItemIdOf,
  threadIdOf,
  threadSuffix,
  turnIdsOf,
  workspaceIdOf,
} from './ids.ts';
import { limits } from './limits.ts';
import { isSubjectToken } from './subjects.ts';

const homeId = '6b1f5b1e-8d0a-4c63-9f2e-0a7d3c5e1b42';
const request = fc.string({ unit: 'binary', minLength: 1, maxLength: 200 });

describe('derived ids', () => {
  it('of a process are those that others compute', () => {
    expect(processIdOf('run_00000000000000000000000000000004', 'item_00000000000000000000000000000009')).toBe(
      'process_022566fb2be55053ac8716649d851bef',
    );
  });

  it('are the same for the same request, and a subject token with the name of their kind', () => {
    fc.assert(
      fc.property(request, fc.nat(), (clientRequestId, ordinal) => {
        const all = (): [string, string][] => {
          const threadId = threadIdOf(homeId, clientRequestId);
          const { turnId, runId, userItemId } = turnIdsOf(homeId, threadId, clientRequestId);
          return [
            ['thread', threadId],
            ['branch', branchIdOf(homeId, threadId)],
            ['turn', turnId],
            ['run', runId],
            ['item', userItemId],
            ['item', runItemIdOf(homeId, runId, ordinal)],
            ['item', steerItemIdOf(homeId, runId, clientRequestId)],
            ['process', processIdOf(runId, userItemId)],
            ['workspace', workspaceIdOf(homeId, clientRequestId)],
            ['memory', memoryIdOf(homeId, 'main', clientRequestId)],
          ];
        };
        expect(all()).toEqual(all());
        for (const [kind, id] of all()) {
          expect(id).toMatch(new RegExp(`^${kind}_[0-9a-f]{32}$`));
          expect(isSubjectToken(id)).toBe(true);
        }
        expect(new Set(all().map(([, id]) => id)).size).toBe(10);
      }),
    );
  });

  it('differ for different requests, threads and homes', () => {
    const other = '00000000-0000-4000-8000-000000000000';
    fc.assert(
      fc.property(request, request, (one, two) => {
        expect(threadIdOf(homeId, one) === threadIdOf(homeId, two)).toBe(one === two);
        expect(threadIdOf(homeId, one)).not.toBe(threadIdOf(other, one));
        expect(turnIdsOf(homeId, 'thread_1', one).runId).not.toBe(turnIdsOf(homeId, 'thread_2', one).runId);
        expect(memoryIdOf(homeId, 'main', one)).not.toBe(memoryIdOf(homeId, 'other', one));
        expect(commandIdOf(homeId, 'thread.create', '', one) === commandIdOf(homeId, 'thread.create', '', two)).toBe(
          one === two,
        );
        expect(commandIdOf(homeId, 'turn.start', 't', one)).not.toBe(commandIdOf(homeId, 'run.steer', 't', one));
      }),
    );
  });

  it('of the items of a run differ by ordinal', () => {
    const ids = Array.from({ length: 2000 }, (_, ordinal) => runItemIdOf(homeId, 'run_1', ordinal));
    expect(new Set(ids).size).toBe(2000);
  });

  it('of the turn that a steer becomes fit a request id', () => {
    const runId = turnIdsOf(homeId, 'thread_1', 'r').runId;
    const id = steerFollowUpRequestId(runId, steerItemIdOf(homeId, runId, 's'));
    expect(id.length).toBeLessThanOrEqual(limits.clientRequestIdChars);
  });

  it('of a managed folder are the last eight digits of its thread', () => {
    expect(threadSuffix('thread_0123456789abcdef0123456789abcdef')).toBe('89abcdef');
  });

  it('need a home id that is a UUID', () => {
    expect(() => threadIdOf('not-a-uuid', 'r')).toThrow(TypeError);
  });
});
