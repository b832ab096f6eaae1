import { type Bus, callCommand, connectBus } from '@rookery/bus';
import { openJournal } from '@rookery/journal';
import {
  AppError,
  type Commit,
  commandIdOf,
  commandSubject,
  commitId,
  formatSubject,
  MEMORY,
  memoryIdOf,
  sha256Hex,
} from '@rookery/protocol';
import { sleep, startRookery, type TestRookery } from '@rookery/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

interface Written {
  memoryId: string;
  resultingRevision: number;
  created: boolean;
}
interface Listed {
  memories: { id: string; preview: string | null; revision: number; kind: string }[];
  nextCursor: string | null;
  hasMore: boolean;
}

const world = 'home';
let rookery: TestRookery;
let client: Bus;

const connect = (user: string) =>
  connectBus({ url: rookery.nats.url, user, seed: rookery.nats.seed(user), name: `test ${user}` });

beforeAll(async () => {
  rookery = await startRookery({ services: ['memory'], slots: { memory: 2 }, faults: true });
  client = await connect('gateway');
});
afterAll(async () => {
  await client?.close();
  await rookery?.stop();
});

async function call<T>(method: string, params: unknown, agentId = 'main'): Promise<T> {
  const request = { method, params, commandId: 'test', agentId, world };
  const { result } = await callCommand<T>(client, commandSubject('memory', method), request, {
    timeoutMs: 50_000,
    attemptMs: 5000,
    noResponderMs: 50_000,
  });
  return result;
}
const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'accepted',
    (error: unknown) => (error instanceof AppError ? error.code : error),
  );
const note = (clientRequestId: string, content: string, more: object = {}) => ({
  kind: 'fact',
  scope: { type: 'global', key: null },
  content,
  clientRequestId,
  ...more,
});
const create = (clientRequestId: string, content: string, more: object = {}, agentId = 'main') =>
  call<Written>('memory.create', note(clientRequestId, content, more), agentId);
const correct = (memoryId: string, expectedRevision: number, clientRequestId: string, content: string) =>
  call<Written>('memory.correct', { memoryId, expectedRevision, clientRequestId, content });
const list = (params: object = {}, agentId = 'main') => call<Listed>('memory.list', params, agentId);

async function listAll(agentId: string): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = null; ; ) {
    const page: Listed = await list({ cursor, limit: 7 }, agentId);
    ids.push(...page.memories.map((memory) => memory.id));
    cursor = page.nextCursor;
    if (!page.hasMore) return ids;
  }
}

async function storedCommits(agentId: string): Promise<Commit[]> {
  const bus = await connect('memory');
  try {
    const page = await openJournal(bus, { stream: MEMORY }).readPage({ fromSeq: 1, max: 5000 });
    return page.commits.map(({ commit }) => commit).filter((commit) => commit.agentId === agentId);
  } finally {
    await bus.close();
  }
}

describe('two instances of memory', () => {
  it('make 10 memories of 200 requests with 10 request ids at once', async () => {
    const agent = 'many';
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) => create(`req-${index % 10}`, `fact ${index % 10}`, {}, agent)),
    );
    expect(new Set(answers.map((answer) => answer.memoryId)).size).toBe(10);
    expect(answers.filter((answer) => answer.created)).toHaveLength(10);
    expect(answers.every((answer) => answer.resultingRevision === 1)).toBe(true);
    expect((await listAll(agent)).length).toBe(10);
    expect(await storedCommits(agent)).toHaveLength(10);
  });

  it('accept one of many requests that share an id and differ', async () => {
    const agent = 'rivals';
    const codes = await Promise.all(
      Array.from({ length: 20 }, (_, index) => codeOf(create('same', `content ${index}`, {}, agent))),
    );
    expect(codes.filter((code) => code === 'accepted')).toHaveLength(1);
    expect(codes.filter((code) => code === 'MEMORY_IDEMPOTENCY_CONFLICT')).toHaveLength(19);
    expect(await storedCommits(agent)).toHaveLength(1);
  });

  it('accept one of many corrections of a revision, and answer its retry as before', async () => {
    const { memoryId } = await create('to-correct', 'first');
    const attempts = Array.from({ length: 12 }, (_, index) => `correction-${index}`);
    const outcomes = await Promise.all(
      attempts.map(async (id) => ({ id, code: await codeOf(correct(memoryId, 1, id, `by ${id}`)) })),
    );
    const winners = outcomes.filter(({ code }) => code === 'accepted').map(({ id }) => id);
    expect(winners).toHaveLength(1);
    expect(outcomes.filter(({ code }) => code === 'MEMORY_REVISION_CONFLICT')).toHaveLength(11);
    const [winner = ''] = winners;
    expect(await correct(memoryId, 1, winner, `by ${winner}`)).toEqual({
      memoryId,
      resultingRevision: 2,
      created: false,
    });
    expect(await codeOf(correct(memoryId, 2, winner, 'other'))).toBe('MEMORY_IDEMPOTENCY_CONFLICT');
    expect(await call('memory.get', { memoryId })).toMatchObject({
      memory: { id: memoryId, revision: 2, content: `by ${winner}`, state: 'active', forgottenAt: null },
    });
  });

  it('refuse a request id that the agent used for another memory', async () => {
    const one = await create('taken-a', 'a');
    const two = await create('taken-b', 'b');
    await correct(one.memoryId, 1, 'taken-c', 'a2');
    expect(await codeOf(correct(two.memoryId, 1, 'taken-c', 'a2'))).toBe('MEMORY_IDEMPOTENCY_CONFLICT');
    expect(await codeOf(create('taken-c', 'c'))).toBe('MEMORY_IDEMPOTENCY_CONFLICT');
  });

  it('show every acknowledged write in what is asked next, whichever instance answers', async () => {
    for (let round = 1; round <= 15; round += 1) {
      const { memoryId } = await create(`own-${round}`, `round ${round}`, {}, 'reader');
      expect((await list({ limit: 1 }, 'reader')).memories[0]?.id).toBe(memoryId);
      const corrected = {
        memoryId,
        expectedRevision: 1,
        clientRequestId: `own-fix-${round}`,
        content: `fixed ${round}`,
      };
      await call('memory.correct', corrected, 'reader');
      expect(await call('memory.get', { memoryId }, 'reader')).toMatchObject({ memory: { content: `fixed ${round}` } });
    }
  });

  it('list by filter and page, with short previews', async () => {
    const agent = 'lister';
    const workspace = { type: 'workspace', key: 'workspace-1' };
    for (let index = 0; index < 12; index += 1) {
      const more = index % 3 === 0 ? { kind: 'project', scope: workspace } : {};
      await create(`list-${index}`, `${index} ${'x'.repeat(300)}`, more, agent);
    }
    expect(new Set(await listAll(agent)).size).toBe(12);
    const projects = await list({ scope: workspace, kind: 'project' }, agent);
    expect(projects.memories).toHaveLength(4);
    expect(projects.memories.every((memory) => memory.preview?.length === 160)).toBe(true);
    expect((await list({ kind: 'preference' }, agent)).memories).toEqual([]);
    expect((await list({ state: 'forgotten' }, agent)).memories).toEqual([]);
    const { nextCursor } = await list({ limit: 5 }, agent);
    expect(await codeOf(list({ limit: 5, cursor: nextCursor, kind: 'fact' }, agent))).toBe('INVALID_CURSOR');
    expect(await codeOf(list({ cursor: 'nonsense' }, agent))).toBe('INVALID_CURSOR');
  });

  it('keep the memories of agents apart', async () => {
    const { memoryId } = await create('private', 'mine', {}, 'agent-a');
    expect((await create('private', 'mine', {}, 'agent-b')).memoryId).not.toBe(memoryId);
    const asked = call('memory.get', { memoryId }, 'agent-b');
    expect(await codeOf(asked)).toBe('MEMORY_NOT_FOUND');
    const corrected = { memoryId, expectedRevision: 1, clientRequestId: 'steal', content: 'theirs' };
    expect(await codeOf(call('memory.correct', corrected, 'agent-b'))).toBe('MEMORY_NOT_FOUND');
  });

  it('refuse a secret of the home, whole or in part, old or new', async () => {
    const old = rookery.token;
    expect(await codeOf(create('secret-1', `the token is ${old}`))).toBe('SECRET_REFUSED');
    const written = await create('secret-2', 'nothing secret');
    expect(await codeOf(correct(written.memoryId, 1, 'secret-3', `x${old.slice(4, 14)}x`))).toBe('SECRET_REFUSED');
    expect((await list({ limit: 100 })).memories.map(({ preview }) => preview).join()).not.toContain(old.slice(4, 14));
  });

  it('refuse what does not fit, by its code', async () => {
    expect(await codeOf(create('blank', '   '))).toBe('INVALID_PARAMS');
    expect(await codeOf(create('long', 'x'.repeat(2049)))).toBe('INVALID_PARAMS');
    expect(await codeOf(call('memory.get', { memoryId: 'memory_none' }))).toBe('MEMORY_NOT_FOUND');
    expect(await codeOf(correct('no.subject > token', 1, 'bad', 'x'))).toBe('MEMORY_NOT_FOUND');
    expect(await codeOf(call('memory.forget', {}))).toBe('METHOD_NOT_FOUND');
  });

  it('cite only completed items of the own conversation', async () => {
    const at = new Date().toISOString();
    const itemId = 'item_cited';
    const item = {
      id: itemId,
      turnId: 'turn_cited',
      runId: 'run_cited',
      ordinal: 2,
      kind: 'message',
      role: 'assistant',
      status: 'completed',
      content: 'The answer.',
      data: {},
      createdAt: at,
      updatedAt: at,
    };
    const subject = formatSubject({ kind: 'run', world, threadId: 'thread_cited', runId: 'run_cited' });
    const cause = commandIdOf(rookery.nats.homeId, 'test', subject, 'cite');
    const agentBus = await connect('agent');
    const commit: Commit = {
      v: 1,
      id: commitId(subject, cause, 0),
      cause,
      at,
      by: 'test',
      agentId: 'main',
      events: [{ type: 'item.completed', itemId, payload: { item } }],
    };
    expect(await openJournal(agentBus).append({ subject, expected: 0, commit })).toMatchObject({
      outcome: 'committed',
    });
    await agentBus.close();

    const source = { type: 'session_item', itemId };
    const { memoryId } = await create('citing', 'It said so.', { source });
    expect(await call('memory.get', { memoryId })).toMatchObject({
      memory: {
        provenance: {
          sourceKind: 'session_item',
          threadId: 'thread_cited',
          turnId: 'turn_cited',
          itemId,
          status: 'available',
        },
      },
    });
    const created = (await storedCommits('main')).find((stored) => stored.id.includes(memoryId))?.events[1];
    expect(created?.payload).toMatchObject({ source: { itemSha256: sha256Hex('The answer.') } });
    await correct(memoryId, 1, 'citing-fix', 'It said otherwise.');
    expect(await call('memory.get', { memoryId })).toMatchObject({
      memory: { provenance: { itemId, status: 'available' } },
    });

    const unknown = { source: { type: 'session_item', itemId: 'item_none' } };
    expect(await codeOf(create('citing-none', 'x', unknown))).toBe('MEMORY_SOURCE_UNAVAILABLE');
    expect(await codeOf(create('citing-foreign', 'x', { source }, 'agent-a'))).toBe('MEMORY_SOURCE_UNAVAILABLE');
    const plain = await create('plain', 'no source');
    expect(await call('memory.get', { memoryId: plain.memoryId })).toMatchObject({
      memory: { provenance: { sourceKind: 'user_explicit', itemId: null, status: 'not_applicable' } },
    });
  });
});

describe('what was acknowledged', () => {
  it('is there once when a process dies between its append and its answer, and when any is killed', async () => {
    const agent = 'survivor';
    // The process in slot 0 dies right after its 30th append.
    await rookery.withFault('memory', 'memory:after-append@30');
    const { starts } = rookery.service('memory', 0);
    const ids = Array.from({ length: 150 }, (_, index) => `kill-${index}`);
    const write = async (own: string[]) => {
      for (const id of own) await create(id, `content of ${id}`, {}, agent);
    };
    const kill = async () => {
      await sleep(100);
      await rookery.killAndWait('memory', 1);
    };
    await Promise.all([write(ids.slice(0, 75)), write(ids.slice(75)), kill()]);
    await rookery.service('memory', 0).started(starts + 1);
    const expected = ids.map((id) => memoryIdOf(rookery.nats.homeId, agent, id));
    expect((await listAll(agent)).sort()).toEqual([...expected].sort());
    expect(await storedCommits(agent)).toHaveLength(ids.length);
    for (const id of ids) expect(await create(id, `content of ${id}`, {}, agent)).toMatchObject({ created: false });
  }, 120_000);

  it('is there after nats-server was killed, and the services go on', async () => {
    const agent = 'nats-killed';
    await create('before', 'before', {}, agent);
    const starts = [0, 1].map((slot) => rookery.service('memory', slot).starts);
    await rookery.nats.kill();
    await rookery.nats.restart();
    await create('after', 'after', {}, agent);
    expect(await create('before', 'before', {}, agent)).toMatchObject({ created: false });
    expect((await listAll(agent)).length).toBe(2);
    expect([0, 1].map((slot) => rookery.service('memory', slot).starts)).toEqual(starts);
  });
});
