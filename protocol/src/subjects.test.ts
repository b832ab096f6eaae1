import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  commandSubject,
  decodeToken,
  encodeToken,
  formatSubject,
  instanceKey,
  instanceName,
  isSubjectToken,
  type JournalSubject,
  parseInstance,
  parseSubject,
  subjectFilters,
  threadFilter,
} from './subjects.ts';

const letters = fc.constantFrom(...'abcXYZ019_-');
const token = fc.string({ unit: letters, minLength: 1, maxLength: 40 });
const account = fc.oneof(
  token,
  fc.string({ maxLength: 60 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom('', 'a.b', 'a b', '*', '>', '@鸟:example.org', 'b64-', 'b64-YQ', 'x'.repeat(200), 'x'.repeat(201)),
);
const subject: fc.Arbitrary<JournalSubject> = fc.oneof(
  fc.record({ kind: fc.constant('turns' as const), world: token, threadId: token }),
  fc.record({ kind: fc.constant('run' as const), world: token, threadId: token, runId: token }),
  fc.record({ kind: fc.constant('approval' as const), world: token, threadId: token, approvalId: token }),
  fc.record({ kind: fc.constant('process' as const), world: token, threadId: token, processId: token }),
  fc.record({ kind: fc.constant('channel' as const), world: token, channel: token, account, chat: account }),
  fc.record({ kind: fc.constant('erasures' as const), world: token }),
  fc.constant<JournalSubject>({ kind: 'config' }),
  fc.constant<JournalSubject>({ kind: 'canary' }),
  fc.record({ kind: fc.constant('memory' as const), world: token, agentId: token, memoryId: token }),
  fc.record({ kind: fc.constant('memory-erasures' as const), world: token }),
);

/** Whether a NATS filter matches a subject. */
function matches(filter: string, name: string): boolean {
  const parts = name.split('.');
  const wanted = filter.split('.');
  if (wanted.at(-1) === '>')
    return (
      parts.length >= wanted.length &&
      matches(wanted.slice(0, -1).join('.'), parts.slice(0, wanted.length - 1).join('.'))
    );
  return wanted.length === parts.length && wanted.every((part, index) => part === '*' || part === parts[index]);
}

describe('subjects of the journal', () => {
  it.each<[JournalSubject, string]>([
    [{ kind: 'turns', world: 'home', threadId: 't1' }, 'journal.home.thread.t1.turns'],
    [{ kind: 'run', world: 'home', threadId: 't1', runId: 'r1' }, 'journal.home.thread.t1.run.r1'],
    [{ kind: 'approval', world: 'home', threadId: 't1', approvalId: 'a1' }, 'journal.home.thread.t1.approval.a1'],
    [{ kind: 'process', world: 'home', threadId: 't1', processId: 'p1' }, 'journal.home.thread.t1.process.p1'],
    [
      { kind: 'channel', world: 'home', channel: 'webhook', account: 'ci', chat: 'a.b' },
      'journal.home.channel.webhook.ci.b64-YS5i',
    ],
    [{ kind: 'erasures', world: 'home' }, 'journal.home.erasures'],
    [{ kind: 'config' }, 'journal.config'],
    [{ kind: 'canary' }, 'journal.canary'],
    [{ kind: 'memory', world: 'home', agentId: 'main', memoryId: 'm1' }, 'memory.home.main.memory.m1'],
    [{ kind: 'memory-erasures', world: 'home' }, 'memory.home.erasures'],
  ])('%j is %s', (parts, text) => {
    expect(formatSubject(parts)).toBe(text);
    expect(parseSubject(text)).toEqual(parts);
  });

  it('come back from their text, whatever an account is called', () => {
    fc.assert(
      fc.property(subject, (parts) => {
        const text = formatSubject(parts);
        expect(text).toMatch(/^[A-Za-z0-9_.-]+$/);
        expect(parseSubject(text)).toEqual(parts);
      }),
    );
  });

  it('are never the same for two aggregates, and none is a prefix of another', () => {
    fc.assert(
      fc.property(subject, subject, (one, other) => {
        const [a, b] = [formatSubject(one), formatSubject(other)];
        expect(a === b).toBe(JSON.stringify(one) === JSON.stringify(other));
        expect(b.startsWith(`${a}.`)).toBe(false);
      }),
    );
  });

  it.each([
    '',
    'journal',
    'memory',
    'journal.home',
    'journal.home.thread.t1',
    'journal.home.thread.t1.run',
    'journal.home.thread.t1.run.r1.more',
    'journal.home.thread.t1.turns.more',
    'journal.home.thread.t1.other.x',
    'journal..thread.t1.turns',
    'journal.home.thread.ü.turns',
    'journal.home.erasures.more',
    'journal.config.more',
    'journal.home.channel.ci.b64-%.x',
    'journal.home.channel.ci.b64-YQ.x',
    'journal.home.channel.ci.b64-_w.x',
    'memory.home.main.memory',
    'memory.home.main.evidence.e1',
    'cmd.agent.any.turn.start',
    '$JS.ACK.JOURNAL.x',
  ])('%j is none', (text) => {
    expect(parseSubject(text)).toBeNull();
  });

  it('what is parsed is what would be written, for any text at all', () => {
    const part = fc.oneof(
      fc.constantFrom('journal', 'memory', 'home', 'thread', 'run', 'channel', 'erasures', 'b64-', 'b64-YQ'),
      account,
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const text = parts.join('.');
        const parsed = parseSubject(text);
        if (parsed !== null) expect(formatSubject(parsed)).toBe(text);
      }),
    );
  });

  it('refuse a part that is no token', () => {
    for (const bad of ['', 'a.b', 'a b', '*', '>', 'ü', 'x'.repeat(201)]) {
      expect(isSubjectToken(bad)).toBe(false);
      expect(() => formatSubject({ kind: 'run', world: 'home', threadId: bad, runId: 'r' })).toThrow(TypeError);
      expect(() => threadFilter('home', bad)).toThrow(TypeError);
      expect(() => commandSubject('agent', 'turn.start', bad)).toThrow(TypeError);
    }
    expect(isSubjectToken('x'.repeat(200))).toBe(true);
  });
});

describe('tokens', () => {
  it('stand for themselves where they can', () => {
    expect(encodeToken('ci-1_A')).toBe('ci-1_A');
    expect(encodeToken('鸟')).toBe('b64-6bif');
    expect(encodeToken('b64-x')).toBe('b64-YjY0LXg');
  });

  it('come back, and differ for different texts', () => {
    fc.assert(
      fc.property(account, account, (one, other) => {
        expect(decodeToken(encodeToken(one))).toBe(one);
        expect(encodeToken(one) === encodeToken(other)).toBe(one === other);
      }),
    );
  });
});

describe('filters', () => {
  it('match the subjects that they are named for, and no others', () => {
    const named: Record<string, JournalSubject['kind'][]> = {
      [subjectFilters.turns]: ['turns'],
      [subjectFilters.threads]: ['turns', 'run', 'approval', 'process'],
      [subjectFilters.runs]: ['run'],
      [subjectFilters.processes]: ['process'],
      [subjectFilters.channels]: ['channel'],
      [subjectFilters.config]: ['config'],
      [subjectFilters.canary]: ['canary'],
      [subjectFilters.memory]: ['memory', 'memory-erasures'],
      [subjectFilters.journal]: ['turns', 'run', 'approval', 'process', 'channel', 'erasures', 'config', 'canary'],
    };
    fc.assert(
      fc.property(subject, (parts) => {
        for (const [filter, kinds] of Object.entries(named)) {
          expect(matches(filter, formatSubject(parts))).toBe(kinds.includes(parts.kind));
        }
      }),
    );
  });

  it('of a thread match all of it and nothing of another', () => {
    fc.assert(
      fc.property(subject, token, token, (parts, world, threadId) => {
        const own = 'threadId' in parts && parts.world === world && parts.threadId === threadId;
        expect(matches(threadFilter(world, threadId), formatSubject(parts))).toBe(own);
        if ('threadId' in parts)
          expect(matches(threadFilter(parts.world, parts.threadId), formatSubject(parts))).toBe(true);
      }),
    );
  });
});

describe('instances', () => {
  it('are slugs of host, slot and boot without dots', () => {
    expect(instanceName('My.Host.local', 2, 'ab12')).toBe('my-host-local-2-ab12');
    expect(instanceName('…', 0, 'ab12')).toBe('host-0-ab12');
  });

  it('tell the place that survives a restart from the boot', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), fc.nat({ max: 99 }), (host, slot) => {
        const [one, two] = [
          parseInstance(instanceName(host, slot, 'aa')),
          parseInstance(instanceName(host, slot, 'bb')),
        ];
        expect(one.place).toBe(two.place);
        expect([one.boot, two.boot]).toEqual(['aa', 'bb']);
        expect(isSubjectToken(instanceName(host, slot, 'aa'))).toBe(true);
      }),
    );
  });

  it('have keys and commands of their own', () => {
    expect(instanceKey('agent', 'h-0-b')).toBe('instance.agent.h-0-b');
    expect(commandSubject('agent', 'turn.start')).toBe('cmd.agent.any.turn.start');
    expect(commandSubject('tool', 'invoke', 'main')).toBe('cmd.tool.main.invoke');
  });
});
