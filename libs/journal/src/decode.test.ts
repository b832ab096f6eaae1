import type { Commit } from '@rookery/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeCommit, decodeTrusted } from './decode.ts';
import { upcast } from './upcast.ts';

const subject = 'journal.home.thread.t1.run.r1';
const commit: Commit = {
  v: 1,
  id: `${subject}/c1/0`,
  cause: 'c1',
  at: '2026-01-01T00:00:00.000Z',
  by: 'agent/host-0-boot',
  agentId: 'main',
  turnId: 'u1',
  runId: 'r1',
  events: [{ type: 'item.delta', itemId: 'i1', payload: { delta: '你好 🐦' } }],
};
const bytes = (value: unknown): Uint8Array =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value));
const decode = (value: unknown, isCommit = true) =>
  decodeCommit({ streamSeq: 7, subject, data: bytes(value), isCommit });
const reason = (value: unknown, isCommit = true): string => {
  const decoded = decode(value, isCommit);
  return decoded.ok ? 'ok' : decoded.reason;
};

describe('a message of the stream', () => {
  it('is a commit with its place', () => {
    expect(decode(commit)).toEqual({ ok: true, stored: { streamSeq: 7, subject, commit } });
  });

  it('without our header is foreign, whatever it holds', () => {
    for (const value of [commit, 'not JSON', '', { ...commit, v: 99 }]) expect(reason(value, false)).toBe('foreign');
  });

  it.each<[string, unknown]>([
    ['nothing', ''],
    ['no JSON', '{"v":1'],
    ['a list', [commit]],
    ['null', 'null'],
    ['a text', '"text"'],
    ['no version', { ...commit, v: undefined }],
    ['version 0', { ...commit, v: 0 }],
    ['a version that is no number', { ...commit, v: '99' }],
    ['no events', { ...commit, events: [] }],
    ['1,025 events', { ...commit, events: Array(1025).fill(commit.events[0]) }],
    ['an unknown key', { ...commit, more: 1 }],
    ['an unknown event of this version', { ...commit, events: [{ type: 'item.exploded', payload: {} }] }],
    ['an event that fails its schema', { ...commit, events: [{ type: 'item.delta', payload: { delta: '' } }] }],
    ['one bad event among good ones', { ...commit, events: [...commit.events, { type: 'item.delta', payload: {} }] }],
    ['a time without milliseconds', { ...commit, at: '2026-01-01T00:00:00Z' }],
  ])('with our header and %s is damaged', (_what, value) => {
    expect(reason(value)).toBe('damaged');
  });

  it('that is not UTF-8 is damaged', () => {
    expect(
      decodeCommit({ streamSeq: 1, subject, data: Uint8Array.of(0x22, 0xff, 0x22), isCommit: true }),
    ).toMatchObject({ reason: 'damaged' });
  });

  it('of a newer version is too new, however it looks', () => {
    for (const value of [{ ...commit, v: 2 }, { v: 2 }, { ...commit, v: 2, events: [{ type: 'item.exploded' }] }])
      expect(reason(value)).toBe('too_new');
  });

  it('never leaks content into what is said of its damage', () => {
    const decoded = decode({ ...commit, events: [{ type: 'item.delta', payload: { delta: 7, secret: 'a secret' } }] });
    expect(JSON.stringify(decoded)).not.toContain('a secret');
  });

  it('never makes the reader throw', () => {
    const shaped = fc.record(
      { v: fc.oneof(fc.nat(), fc.jsonValue()), events: fc.jsonValue(), at: fc.jsonValue() },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(
        fc.oneof(fc.uint8Array(), fc.json().map(bytes), shaped.map(bytes)),
        fc.boolean(),
        (data, isCommit) => {
          expect(decodeCommit({ streamSeq: 1, subject, data, isCommit }).ok).toBe(false);
        },
      ),
    );
  });

  it('that was accepted before is read without its checks', () => {
    expect(decodeTrusted({ streamSeq: 7, subject, data: bytes(commit) })).toEqual({ streamSeq: 7, subject, commit });
  });
});

describe('upcasting', () => {
  it('leaves a commit of this version, and what is none, as it is', () => {
    const body = { ...commit };
    expect(upcast(body)).toBe(body);
    expect(upcast({})).toEqual({});
  });
});
