import { describe, expect, it } from 'vitest';
import type { Model } from '../wire/types.ts';
import { parseDraft } from './drafts.ts';
import { openingOf } from './model.ts';
import { modelFor } from './model-choice.ts';
import { listThreads } from './titles.ts';
import { thread } from './trace.fixture.ts';

const model = (providerId: string, id: string, enabled = true): Model => ({
  providerId,
  id,
  displayName: id,
  enabled,
  contextWindow: 1,
});
const models = [model('demo', 'scripted'), model('own', 'big'), model('own', 'off', false)];
const ref = (providerId: string, modelId: string) => ({ providerId, modelId });

describe('modelFor', () => {
  it('takes the choice for the thread, then what the thread used, then the last choice', () => {
    const last = { last: ref('own', 'big') };
    expect(modelFor(models, { t: ref('demo', 'scripted'), ...last }, 't', null)?.id).toBe('scripted');
    expect(modelFor(models, last, 't', ref('demo', 'scripted'))?.id).toBe('scripted');
    expect(modelFor(models, last, 't', null)?.id).toBe('big');
  });

  it('prefers a real model to the demo, and never takes a disabled one', () => {
    expect(modelFor(models, {}, null, ref('own', 'off'))?.id).toBe('big');
    expect(modelFor(models.slice(0, 1), {}, null, null)?.id).toBe('scripted');
    expect(modelFor([], {}, null, null)).toBeNull();
  });
});

describe('drafts', () => {
  it('are read back, and anything else is none', () => {
    expect(parseDraft('{"text":"half a sen"}')).toEqual({ text: 'half a sen' });
    for (const stored of [null, '', 'null', '7', '{"text":1}', '{']) expect(parseDraft(stored)).toBeUndefined();
  });
});

describe('titles', () => {
  it('begin with the first line that has words', () => {
    expect(openingOf('\n  \n  Look here \nand there')).toBe('Look here');
    expect(openingOf(' \n ')).toBeNull();
    expect([...(openingOf('学'.repeat(200)) ?? '')]).toHaveLength(80);
  });

  it('are filtered by every word, newest first, without archived threads', () => {
    const threads = {
      a: { ...thread, id: 'a', title: 'Garden plan', updatedAt: '2026-01-01T00:00:00.000Z' },
      b: { ...thread, id: 'b', updatedAt: '2026-01-02T00:00:00.000Z' },
      c: { ...thread, id: 'c', title: 'Garden', archivedAt: '2026-01-03T00:00:00.000Z' },
    };
    const openings = { b: 'Plan the garden wall' };
    expect(listThreads({ threads, openings }, '').map((one) => one.id)).toEqual(['b', 'a']);
    expect(listThreads({ threads, openings }, 'PLAN wall').map((one) => one.id)).toEqual(['b']);
  });
});
