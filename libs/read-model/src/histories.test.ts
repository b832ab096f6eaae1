import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { decodeCommit, type RawMessage } from '@rookery/journal';
import {
  channelsProjection,
  conversationProjection,
  decideCorrectMemory,
  decideCreateMemory,
  evolveMemory,
  foldRun,
  memoryProjection,
  memorySourcesProjection,
  noMemory,
  type Projection,
  toMessages,
} from '@rookery/kernel';
import { COMMIT_HEADER, COMMIT_VERSION, eventSchemas, parseSubject, type StoredCommit } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { Applier } from './applier.ts';
import { createTables } from './bookkeeping.ts';
import { openDatabase } from './database.ts';

/** Recorded journals beside rows that a person wrote down for them: tests/histories/README.md says how to read both. */
const folder = fileURLToPath(new URL('../../../tests/histories/', import.meta.url));

interface Line {
  subject: string;
  headers: Record<string, string>;
  /** A commit, or where the recorded message is none, its bytes as text. */
  commit?: { v: number; events: { type: string; payload: Record<string, unknown> }[] };
  body?: string;
}
type Row = Record<string, unknown>;
type Expected = Record<string, Record<string, unknown>>;

const versions = Array.from({ length: COMMIT_VERSION }, (_, index) => index + 1);
const histories = versions.flatMap((version) =>
  readdirSync(`${folder}v${version}`)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => ({ version, name: `v${version}/${name.slice(0, -'.jsonl'.length)}` })),
);

function linesOf(name: string): Line[] {
  const lines = readFileSync(`${folder}${name}.jsonl`, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line));
}

/** The stream as a reader gets it: line n is the message at sequence n. */
function messagesOf(lines: readonly Line[]): RawMessage[] {
  return lines.map(({ subject, headers, commit, body }, index) => ({
    streamSeq: index + 1,
    subject,
    data: new TextEncoder().encode(body ?? JSON.stringify(commit)),
    isCommit: headers[COMMIT_HEADER] === '1',
  }));
}

function commitsOf(lines: readonly Line[]): StoredCommit[] {
  return messagesOf(lines).flatMap((message) => {
    const decoded = decodeCommit(message);
    return decoded.ok ? [decoded.stored] : [];
  });
}

/** Puts back what the expected rows abbreviate. */
function expand(value: unknown, lines: readonly Line[]): unknown {
  if (Array.isArray(value)) return value.map((each) => expand(each, lines));
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, expand(each, lines)]));
  }
  if (typeof value !== 'string') return value;
  if (/^@\d+$/.test(value)) return `2026-11-30T12:00:${value.slice(1).padStart(2, '0')}.000Z`;
  if (/^#[0-9a-f]{2}$/.test(value)) return value.slice(1).repeat(32);
  if (value.startsWith('sha256:')) return createHash('sha256').update(value.slice(7)).digest('hex');
  const place = /^=(\d+)\.(\d+)\.(.+)$/.exec(value);
  if (place === null) return value;
  const [, line, event, path = ''] = place;
  const payload: unknown = lines[Number(line) - 1]?.commit?.events[Number(event)]?.payload;
  return path.split('.').reduce((part, key) => (part as Row)[key], payload);
}

const sorted = (rows: unknown[]) =>
  rows
    .map((row) => JSON.stringify(row))
    .sort()
    .map((text) => JSON.parse(text));

/** A row with sorted columns and without what nearly every row has: empty columns, the agent `main`, the world `home`. */
function plain(row: Row): Row {
  const entries = Object.entries(row)
    .filter(
      ([key, value]) =>
        value !== null && !(key === 'agent_id' && value === 'main') && !(key === 'world' && value === 'home'),
    )
    .map(([key, value]) => [key, key.endsWith('_json') && typeof value === 'string' ? JSON.parse(value) : value]);
  return Object.fromEntries(entries.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
}

/** All rows of a read model that is built from messages handed over in pieces of a size. */
function build(projection: Projection, messages: readonly RawMessage[], size: number): Record<string, unknown> {
  const db = openDatabase(':memory:', { synchronous: 'NORMAL' });
  try {
    createTables(db, projection);
    const applier = new Applier(db, projection);
    for (let at = 0; at < messages.length; at += size) {
      expect(applier.apply(messages.slice(at, at + size)).stop).toBeNull();
    }
    const { appliedCount: applied, skippedCount: skipped, foreignCount: foreign } = applier.checkpoint;
    const out: Record<string, unknown> = { counts: { applied, skipped, foreign } };
    const tables = db.prepare<[], string>(`SELECT name FROM sqlite_master WHERE type = 'table'`).pluck().all();
    for (const table of tables) {
      if (['checkpoint', 'subject_heads', 'erasures'].includes(table)) continue;
      const rows = db.prepare<[], Row>(`SELECT * FROM ${table}`).all();
      if (rows.length > 0) out[table] = sorted(rows.map(plain));
    }
    return out;
  } finally {
    db.close();
  }
}

/** Every run of a history, folded, in the words of the expected files. */
function foldRuns(commits: readonly StoredCommit[]): Record<string, ReturnType<typeof foldRun>> {
  const byRun = new Map<string, StoredCommit[]>();
  for (const stored of commits) {
    const place = parseSubject(stored.subject);
    if (place?.kind === 'run') byRun.set(place.runId, [...(byRun.get(place.runId) ?? []), stored]);
  }
  return Object.fromEntries([...byRun].map(([id, own]) => [id, foldRun(own)]));
}

const summary = (run: ReturnType<typeof foldRun>) => ({
  status: run.status,
  holder: run.holder,
  epoch: run.epoch,
  steps: run.stepOrdinal,
  lastOrdinal: run.lastOrdinal,
  callOpen: run.modelCallOpen,
  streaming: run.streaming?.text ?? null,
  openCalls: run.openCalls.map(({ item }) => item.id),
  steers: run.steers.map(({ item, seen }) => `${item.id} ${seen ? 'seen' : 'waits'}`),
  items: run.settledItems.map(({ id }) => id),
});

describe.each(histories)('the recorded journal $name', ({ name, version }) => {
  const lines = linesOf(name);
  const expected: Expected = JSON.parse(readFileSync(`${folder}${name}.expected.json`, 'utf8'));
  const ofMemory = lines[0]?.subject.startsWith('memory.') === true;
  const projections = ofMemory
    ? [memoryProjection]
    : [conversationProjection, channelsProjection, memorySourcesProjection];

  it.each(projections)('gives the rows that were written down for $name', (projection) => {
    const { counts, ...tables } = expected[projection.name] ?? {};
    const rows = Object.entries(tables).map(([table, own]) => [
      table,
      sorted((expand(own, lines) as Row[]).map((row) => plain(withText(row)))),
    ]);
    const whole = { counts, ...Object.fromEntries(rows) };
    expect(build(projection, messagesOf(lines), lines.length)).toEqual(whole);
    expect(build(projection, messagesOf(lines), 1)).toEqual(whole);
  });

  it('folds to the runs that were written down, and to what a model is shown of them', () => {
    const runs = foldRuns(commitsOf(lines));
    if (expected.runs !== undefined) {
      const found = Object.fromEntries(Object.entries(runs).map(([id, run]) => [id, summary(run)]));
      expect(found).toEqual(expected.runs);
    }
    for (const [id, messages] of Object.entries(expected.messages ?? {})) {
      expect(toMessages(runs[id]?.settledItems ?? [])).toEqual(messages);
    }
  });

  it('is of its version and known in full', () => {
    const commits = lines.flatMap(({ commit }) => (commit === undefined ? [] : [commit]));
    expect(commits.map(({ v }) => v)).toEqual(commits.map(() => version));
    expect(commitsOf(lines)).toHaveLength(commits.length);
  });
});

/** Columns of JSON are written down as what they hold. */
function withText(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([key, value]) => [key, key.endsWith('_json') ? JSON.stringify(value) : value]),
  );
}

describe('recorded journals', () => {
  it('exist for every version that this program reads, and hold every event of the newest', () => {
    for (const version of versions) expect(existsSync(`${folder}v${version}`)).toBe(true);
    const newest = histories.filter(({ version }) => version === COMMIT_VERSION).flatMap(({ name }) => linesOf(name));
    const types = newest.flatMap(({ commit }) => commit?.events.map(({ type }) => type) ?? []);
    expect([...new Set(types)].sort()).toEqual(Object.keys(eventSchemas).sort());
  });
});

describe('requests that come again after their journal was recorded', () => {
  const commits = commitsOf(linesOf('v1/memories')).filter(({ subject }) => subject === 'memory.home.main.memory.m1');
  const state = commits.reduce((before, { commit }) => evolveMemory(before, commit), noMemory);
  const create = (content: string) => {
    const scope = { type: 'global', key: null } as const;
    const params = { kind: 'fact', scope, content, clientRequestId: 'note-1' } as const;
    return decideCreateMemory(state, { memoryId: 'm1', params, source: null, usedElsewhere: false });
  };
  const correct = (clientRequestId: string, expectedRevision: number, content: string) => {
    const params = { memoryId: 'm1', expectedRevision, clientRequestId, content };
    return decideCorrectMemory(state, { params, usedElsewhere: false });
  };

  it('are decided as they were', () => {
    expect(create('Tea at four.')).toEqual({ kind: 'replay', revision: 1 });
    expect(create('Tea at six.')).toMatchObject({ refused: 'MEMORY_IDEMPOTENCY_CONFLICT' });
    expect(correct('fix-1', 1, 'Tea at five.')).toEqual({ kind: 'replay', revision: 2 });
    expect(correct('fix-3', 2, 'Tea?')).toMatchObject({
      refused: 'MEMORY_REVISION_CONFLICT',
      details: { revision: 3 },
    });
    expect(correct('fix-3', 3, 'Tea?')).toMatchObject({ kind: 'append', revision: 4 });
  });
});
