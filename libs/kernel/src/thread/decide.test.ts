import { checkEvent, type RunConfig, type Thread, turnIdsOf } from '@rookery/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRefusal } from '../refusal.ts';
import {
  byteLength,
  type CreateThread,
  contentRefusal,
  decideArchive,
  decideCreate,
  decideRename,
  decideSubmit,
  decideUnarchive,
  type SubmitTurn,
  type ThreadDecision,
} from './decide.ts';
import type { ThreadState } from './state.ts';

const homeId = '0123456789abcdef0123456789abcdef';
const before = '2026-01-01T00:00:00.000Z';
const now = '2026-01-02T00:00:00.000Z';
const sha = 'a'.repeat(64);
const workspace = { id: 'workspace_1', name: 'work', kind: 'project' as const, rootUri: '/work' };
const thread: Thread = {
  id: 'thread_1',
  title: 'First',
  defaultBranchId: 'branch_1',
  workspace,
  createdAt: before,
  updatedAt: before,
  archivedAt: null,
};
const state = (change: Partial<ThreadState> = {}): ThreadState => ({
  thread,
  paramsSha256: sha,
  unsettledTurns: 0,
  lastOrdinal: 0,
  damaged: false,
  ...change,
});
const archived = state({ thread: { ...thread, archivedAt: before } });
const command = { method: 'thread.create', clientRequestId: 'r1', paramsSha256: sha };
const creation: CreateThread = { command, threadId: 'thread_1', branchId: 'branch_1', title: null, workspace, now };

const ids = turnIdsOf(homeId, 'thread_1', 'r1');
const runConfig: RunConfig = {
  ...ids,
  threadId: 'thread_1',
  branchId: 'branch_1',
  workspace,
  providerId: 'scripted',
  modelId: 'scripted-v1',
  publicProviderConfigFingerprint: sha,
  executionPolicy: 'full_access',
  skills: [],
  tools: [],
  instructions: { outputStyle: null, identityCore: 'You are an agent.', skillCatalog: null },
  contextWindow: 32_768,
};
const submission = (change: Partial<SubmitTurn> = {}): SubmitTurn => ({
  command: { method: 'turn.start', clientRequestId: 'r1', paramsSha256: sha },
  ids,
  branchId: 'branch_1',
  content: 'Hello',
  runConfig,
  authorization: null,
  now,
  ...change,
});

/** Types of the events; a decision's events always fit their schemas. */
function types(decision: ThreadDecision): string[] {
  if (!('events' in decision)) throw new Error(`no events: ${JSON.stringify(decision)}`);
  for (const event of decision.events) expect(checkEvent(event)).toMatchObject({ ok: true });
  return decision.events.map((event) => event.type);
}
const refused = (decision: ThreadDecision | null): string | null =>
  decision !== null && isRefusal(decision) ? decision.refused : null;

describe('thread.create', () => {
  it('makes a thread with its branch', () => {
    const decision = decideCreate(null, creation);
    expect(types(decision)).toEqual(['command.accepted', 'thread.created']);
    expect(decision).toMatchObject({
      events: [
        {},
        { payload: { thread: { id: 'thread_1', createdAt: now, archivedAt: null }, clientRequestId: 'r1' } },
      ],
    });
  });

  it('names no client request where there is none', () => {
    const decision = decideCreate(null, { ...creation, command: { ...command, clientRequestId: null } });
    expect(types(decision)).toEqual(['command.accepted', 'thread.created']);
    expect(JSON.stringify('events' in decision ? decision.events[1] : null)).not.toContain('clientRequestId');
  });

  it('answers a retry as before and refuses other parameters', () => {
    expect(decideCreate(state(), creation)).toEqual({ unchanged: true });
    expect(refused(decideCreate(state({ paramsSha256: 'b'.repeat(64) }), creation))).toBe('IDEMPOTENCY_CONFLICT');
  });
});

describe('thread.rename', () => {
  it('changes title and time, and nothing where the title is there', () => {
    const decision = decideRename(state(), 'Second', now);
    expect(types(decision)).toEqual(['thread.renamed']);
    expect(decision).toMatchObject({
      events: [{ payload: { thread: { title: 'Second', updatedAt: now, createdAt: before } } }],
    });
    expect(decideRename(state(), 'First', now)).toEqual({ unchanged: true });
    expect(types(decideRename(state(), null, now))).toEqual(['thread.renamed']);
  });
});

describe('thread.archive and thread.unarchive', () => {
  it('set and clear the time', () => {
    expect(decideArchive(state(), now)).toMatchObject({
      events: [{ type: 'thread.archived', payload: { thread: { archivedAt: now } } }],
    });
    expect(decideUnarchive(archived, now)).toMatchObject({
      events: [{ type: 'thread.unarchived', payload: { thread: { archivedAt: null } } }],
    });
    expect(types(decideArchive(state(), now))).toEqual(['thread.archived']);
    expect(types(decideUnarchive(archived, now))).toEqual(['thread.unarchived']);
  });

  it('change nothing twice', () => {
    expect(decideArchive(archived, now)).toEqual({ unchanged: true });
    expect(decideUnarchive(state(), now)).toEqual({ unchanged: true });
  });

  it('archive no thread with a turn that is not settled', () => {
    expect(decideArchive(state({ unsettledTurns: 2 }), now)).toEqual({
      refused: 'THREAD_BUSY',
      details: { unsettledTurns: 2 },
    });
  });
});

describe('turn.start', () => {
  it('queues a turn behind the others', () => {
    const decision = decideSubmit(state({ lastOrdinal: 7, unsettledTurns: 3 }), null, submission());
    expect(types(decision)).toEqual(['command.accepted', 'item.completed', 'run.state_changed']);
    expect(decision).toMatchObject({
      events: [
        {},
        {
          itemId: ids.userItemId,
          payload: { turn: { ordinal: 8, status: 'queued' }, item: { ordinal: 1, content: 'Hello' } },
        },
        { payload: { status: 'queued' } },
      ],
    });
  });

  it('stores the signature of the edge that took the request', () => {
    const authorization = {
      threadId: 'thread_1',
      clientRequestId: 'r1',
      profileId: 'read-only',
      key: 'U1',
      signature: 's',
    };
    expect(decideSubmit(state(), null, submission({ authorization }))).toMatchObject({
      events: [{ payload: { authorization } }, {}, {}],
    });
  });

  it('answers a retry as before, also once the thread is archived or damaged, and refuses other parameters', () => {
    const known = { turnId: ids.turnId, runId: ids.runId, paramsSha256: sha };
    for (const then of [state(), archived, state({ damaged: true })]) {
      expect(decideSubmit(then, known, submission())).toEqual({ unchanged: true });
    }
    expect(refused(decideSubmit(state(), { ...known, paramsSha256: 'b'.repeat(64) }, submission()))).toBe(
      'IDEMPOTENCY_CONFLICT',
    );
  });

  it('is refused on an archived thread, another branch, and without content', () => {
    expect(refused(decideSubmit(archived, null, submission()))).toBe('THREAD_ARCHIVED');
    expect(refused(decideSubmit(state(), null, submission({ branchId: 'branch_2' })))).toBe('BRANCH_NOT_FOUND');
    expect(refused(decideSubmit(state(), null, submission({ content: ' \n\t' })))).toBe('CONTENT_EMPTY');
  });

  it('takes 262,144 bytes and not one more, counted in UTF-8', () => {
    expect(contentRefusal('x'.repeat(262_144))).toBeNull();
    expect(refused(decideSubmit(state(), null, submission({ content: 'x'.repeat(262_145) })))).toBe(
      'CONTENT_TOO_LARGE',
    );
    expect(contentRefusal('🐦'.repeat(65_536))).toBeNull();
    expect(refused(contentRefusal(`${'🐦'.repeat(65_536)}.`))).toBe('CONTENT_TOO_LARGE');
  });

  it('has events that fit their schemas for any content', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), fc.nat(), (content, lastOrdinal) => {
        const decision = decideSubmit(state({ lastOrdinal }), null, submission({ content }));
        if (content.trim() === '') expect(refused(decision)).toBe('CONTENT_EMPTY');
        else expect(types(decision)).toHaveLength(3);
      }),
    );
  });
});

describe('every command', () => {
  const commands: [string, (given: ThreadState | null) => ThreadDecision][] = [
    ['rename', (given) => decideRename(given, 'Second', now)],
    ['archive', (given) => decideArchive(given, now)],
    ['unarchive', (given) => decideUnarchive(given, now)],
    ['submit', (given) => decideSubmit(given, null, submission())],
  ];
  it.each(commands)('%s needs a thread that is there and whole', (_name, decide) => {
    expect(refused(decide(null))).toBe('THREAD_NOT_FOUND');
    expect(refused(decide(state({ damaged: true })))).toBe('THREAD_DAMAGED');
  });

  it.each(commands)('%s leaves its state as it was', (_name, decide) => {
    const given = state();
    const copy = structuredClone(given);
    decide(given);
    expect(given).toEqual(copy);
  });
});

describe('byteLength', () => {
  it('counts UTF-8 bytes', () => {
    expect([byteLength(''), byteLength('a'), byteLength('é'), byteLength('你'), byteLength('🐦')]).toEqual([
      0, 1, 2, 3, 4,
    ]);
  });
});
