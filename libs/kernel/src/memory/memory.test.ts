import { type CommitEvent, checkEvent, type RpcParams, sha256Hex } from '@rookery/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRefusal } from '../refusal.ts';
import { decideCorrectMemory, decideCreateMemory, type MemoryDecision } from './decide.ts';
import { memoryPreview } from './preview.ts';
import { evolveMemory, type MemoryState, noMemory } from './state.ts';

const memoryId = 'memory_1';
const created: RpcParams<'memory.create'> = {
  kind: 'fact',
  scope: { type: 'global', key: null },
  content: 'The cat is called Ada.',
  clientRequestId: 'req-1',
};
const source = { threadId: 'thread_1', turnId: 'turn_1', itemId: 'item_1', itemSha256: sha256Hex('x') };

const commit = (events: CommitEvent[]) => ({
  v: 1,
  id: 'x',
  cause: 'x',
  at: '2026-01-01T00:00:00.000Z',
  by: 'test',
  agentId: 'main',
  events,
});
const after = (state: MemoryState, decision: MemoryDecision): MemoryState =>
  'kind' in decision && decision.kind === 'append' ? evolveMemory(state, commit(decision.events)) : state;
const create = (state: MemoryState, change: Partial<typeof created> = {}, cited: typeof source | null = null) =>
  decideCreateMemory(state, { memoryId, params: { ...created, ...change }, source: cited, usedElsewhere: false });
const correct = (state: MemoryState, expectedRevision: number, clientRequestId: string, content = 'He is Ada.') =>
  decideCorrectMemory(state, {
    params: { memoryId, expectedRevision, content, clientRequestId },
    usedElsewhere: false,
  });

const existing = after(noMemory, create(noMemory));

describe('memory.create', () => {
  it('writes the request and the memory, with payloads that their schemas accept', () => {
    const decision = create(noMemory, { source: { type: 'session_item', itemId: 'item_1' } }, source);
    expect(decision).toMatchObject({ kind: 'append', revision: 1 });
    if (isRefusal(decision) || decision.kind !== 'append') return;
    expect(decision.events.map((event) => event.type)).toEqual(['command.accepted', 'memory.created']);
    for (const event of decision.events) expect(checkEvent(event)).toMatchObject({ ok: true });
    expect(decision.events[1]?.payload).toMatchObject({ source, contentSha256: sha256Hex(created.content) });
  });

  it('answers a retry with the first result, at any later revision', () => {
    expect(create(existing)).toEqual({ kind: 'replay', revision: 1 });
    expect(create(after(existing, correct(existing, 1, 'req-2')))).toEqual({ kind: 'replay', revision: 1 });
  });

  it.each([
    ['content', { content: 'another' }],
    ['kind', { kind: 'project' as const }],
    ['scope', { scope: { type: 'workspace' as const, key: 'k' } }],
    ['source', { source: { type: 'session_item' as const, itemId: 'item_1' } }],
  ])('refuses the same request id with another %s', (_name, change) => {
    expect(create(existing, change)).toMatchObject({ refused: 'MEMORY_IDEMPOTENCY_CONFLICT' });
  });

  it('refuses a request id that another memory of the agent has used', () => {
    const command = { memoryId, params: created, source: null, usedElsewhere: true };
    expect(decideCreateMemory(noMemory, command)).toMatchObject({ refused: 'MEMORY_IDEMPOTENCY_CONFLICT' });
  });

  it('refuses an item that does not exist, but not a retry whose item has gone', () => {
    const cited = { source: { type: 'session_item' as const, itemId: 'item_1' } };
    expect(create(noMemory, cited)).toMatchObject({
      refused: 'MEMORY_SOURCE_UNAVAILABLE',
      details: { itemId: 'item_1' },
    });
    expect(create(after(noMemory, create(noMemory, cited, source)), cited)).toEqual({ kind: 'replay', revision: 1 });
  });

  it('is not misled by request ids that name members of every object', () => {
    expect(create(noMemory, { clientRequestId: 'constructor' })).toMatchObject({ kind: 'append' });
  });
});

describe('memory.correct', () => {
  it('makes the next revision', () => {
    const decision = correct(existing, 1, 'req-2');
    expect(decision).toMatchObject({ kind: 'append', revision: 2 });
    if (isRefusal(decision) || decision.kind !== 'append') return;
    for (const event of decision.events) expect(checkEvent(event)).toMatchObject({ ok: true });
    expect(after(existing, decision).revision).toBe(2);
  });

  it('refuses an unknown memory and a revision that is not the current one', () => {
    expect(correct(noMemory, 1, 'req-2')).toMatchObject({ refused: 'MEMORY_NOT_FOUND' });
    expect(correct(existing, 2, 'req-2')).toMatchObject({
      refused: 'MEMORY_REVISION_CONFLICT',
      details: { revision: 1 },
    });
  });

  it('answers a retry with its own revision, and refuses it with other parameters', () => {
    const second = after(existing, correct(existing, 1, 'req-2'));
    const third = after(second, correct(second, 2, 'req-3', 'later'));
    expect(correct(third, 1, 'req-2')).toEqual({ kind: 'replay', revision: 2 });
    expect(correct(third, 3, 'req-2')).toMatchObject({ refused: 'MEMORY_IDEMPOTENCY_CONFLICT' });
    expect(correct(third, 1, 'req-2', 'other')).toMatchObject({ refused: 'MEMORY_IDEMPOTENCY_CONFLICT' });
    expect(correct(third, 1, created.clientRequestId)).toMatchObject({ refused: 'MEMORY_IDEMPOTENCY_CONFLICT' });
  });
});

describe('any order of requests and retries', () => {
  const request = fc.record({
    id: fc.constantFrom('a', 'b', 'c', 'd'),
    expectedRevision: fc.integer({ min: 1, max: 4 }),
    content: fc.constantFrom('one', 'two'),
  });

  it('writes each accepted request once, in revisions without a gap, and answers its retry alike for ever', () => {
    fc.assert(
      fc.property(fc.array(request, { maxLength: 30 }), (requests) => {
        let state = after(noMemory, create(noMemory));
        const answers = new Map<string, { revision: number; request: string }>();
        const revisions = [1];
        for (const one of requests) {
          const decision = correct(state, one.expectedRevision, one.id, one.content);
          const key = JSON.stringify(one);
          const first = answers.get(one.id);
          if (first !== undefined) {
            if (first.request === key) expect(decision).toEqual({ kind: 'replay', revision: first.revision });
            else expect(decision).toMatchObject({ refused: 'MEMORY_IDEMPOTENCY_CONFLICT' });
          } else if (!isRefusal(decision) && decision.kind === 'append') {
            answers.set(one.id, { revision: decision.revision, request: key });
            revisions.push(decision.revision);
          }
          state = after(state, decision);
        }
        expect(revisions).toEqual(revisions.map((_, index) => index + 1));
        expect(state.revision).toBe(revisions.length);
      }),
    );
  });
});

describe('memoryPreview', () => {
  it('is a prefix of at most 160 units that ends with a whole character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 400 }), (content) => {
        const preview = memoryPreview(content);
        expect(content.startsWith(preview)).toBe(true);
        expect(preview.length).toBeLessThanOrEqual(160);
        expect(preview.length).toBeGreaterThanOrEqual(Math.min(content.length, 159));
        expect(() => encodeURIComponent(preview)).not.toThrow();
      }),
    );
    expect(memoryPreview(`${'x'.repeat(159)}😀`)).toBe('x'.repeat(159));
  });
});
