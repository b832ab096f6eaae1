import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Bus, connectBus } from '@rookery/bus';
import { type Journal, openJournal } from '@rookery/journal';
import { conversationProjection, memoryProjection, type Projection } from '@rookery/kernel';
import { type Commit, commitId, formatSubject, JOURNAL, MEMORY, sha256Hex } from '@rookery/protocol';
import { digest, openDatabase, openReadModel } from '@rookery/read-model';
import { checkout, sampleConversation, startNats, type TestNats, temporaryFolder } from '@rookery/testkit';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';

// Inside the tree, so that what is not bundled is found.
const bundles = join(checkout, 'node_modules', '.cache', `projector-killed-test-${process.pid}`);
let nats: TestNats;
const buses: Bus[] = [];

beforeAll(async () => {
  nats = await startNats();
  await build({
    absWorkingDir: checkout,
    entryPoints: {
      'projector-worker': 'libs/read-model/src/projector-worker.ts',
      'dying-projector': 'tests/service/testing/dying-projector.ts',
      child: 'tests/service/testing/read-model-child.ts',
    },
    outdir: bundles,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    external: ['better-sqlite3'],
    banner: { js: "import { createRequire as __make } from 'node:module'; const require = __make(import.meta.url);" },
    logLevel: 'silent',
  });
});
afterAll(async () => {
  for (const bus of buses) await bus.close();
  await nats?.stop();
  await rm(bundles, { recursive: true, force: true });
});

async function journalOf(user: string, stream: string, singleWriter = false): Promise<Journal> {
  const bus = await connectBus({ url: nats.url, user, seed: nats.seed(user), name: `test ${user}` });
  buses.push(bus);
  return openJournal(bus, { stream, singleWriter });
}

type Entry = { subject: string; commit: Commit };

/** Memories with a correction each, as the service writes them. */
function memories(): Entry[] {
  return Array.from({ length: 30 }, (_, index) => index).flatMap((index) => {
    const memoryId = `memory_${index}`;
    const subject = formatSubject({ kind: 'memory', world: 'home', agentId: 'main', memoryId });
    return [1, 2].map((revision) => {
      const content = `what is known, revision ${revision}`;
      const made = { memoryId, content, contentSha256: sha256Hex(content), revision };
      const first = { ...made, kind: 'fact', scope: { type: 'global', key: null }, source: null };
      const clientRequestId = `${memoryId}-${revision}`;
      const method = revision === 1 ? 'memory.create' : 'memory.correct';
      const accepted = { method, clientRequestId, paramsSha256: 'ab'.repeat(32), authorization: null };
      return {
        subject,
        commit: {
          v: 1,
          id: commitId(subject, clientRequestId, 0),
          cause: clientRequestId,
          at: '2026-11-30T12:00:00.000Z',
          by: 'memory/test',
          agentId: 'main',
          events: [
            { type: 'command.accepted', payload: accepted },
            revision === 1 ? { type: 'memory.created', payload: first } : { type: 'memory.corrected', payload: made },
          ],
        },
      };
    });
  });
}

function fileOf(dir: string): { digests: Record<string, string>; appliedSeq: number } {
  const db = openDatabase(join(dir, 'state.db'), { synchronous: 'NORMAL' });
  try {
    const appliedSeq = db.prepare<[], number>('SELECT applied_seq FROM checkpoint').pluck().get() ?? 0;
    return { digests: digest(db), appliedSeq };
  } finally {
    db.close();
  }
}

const cases: { stream: string; user: string; projection: Projection; entries: Entry[] }[] = [
  { stream: JOURNAL, user: 'agent', projection: conversationProjection, entries: sampleConversation({ threads: 2 }) },
  { stream: MEMORY, user: 'memory', projection: memoryProjection, entries: memories() },
];

it.each(cases)(
  'a process killed inside a transaction on $stream leaves rows and checkpoint that agree, and catches up to what a rebuild gives',
  async ({ stream, user, projection, entries }) => {
    const connection = { url: nats.url, user, seed: nats.seed(user), name: 'test projector' };
    const folder = await temporaryFolder('killed');
    const journals = { own: await journalOf(user, stream), tool: await journalOf('tool', stream, true) };
    const heads = new Map<string, number>();
    const write = async (some: readonly Entry[]) => {
      for (const { subject, commit } of some) {
        const by = subject.includes('.process.') ? journals.tool : journals.own;
        const result = await by.append({ subject, expected: heads.get(subject) ?? 0, commit });
        if (result.outcome !== 'committed') throw new Error(`conflict on ${subject}`);
        heads.set(subject, result.streamSeq);
      }
    };
    /** What a projector that may work to its end makes of the file in a folder, and why it began anew, if it did. */
    const level = async (dir: string) => {
      let rebuilt: unknown = null;
      const model = await openReadModel<unknown>({
        dir,
        projection,
        stream,
        connection,
        workerEntry: join(bundles, 'projector-worker.mjs'),
        onState: (state) => {
          if (state.state === 'replaying') rebuilt = state.rebuilt;
        },
      });
      await model.level();
      await model.stop();
      return { ...fileOf(dir), rebuilt };
    };
    try {
      const half = Math.floor(entries.length / 2);
      const dir = join(folder.path, 'live');
      await write(entries.slice(0, half));
      const before = await level(dir);
      await write(entries.slice(half));
      const workerEntry = join(bundles, 'dying-projector.mjs');
      const child = spawn(
        process.execPath,
        [join(bundles, 'child.mjs'), JSON.stringify({ dir, workerEntry, connection, stream })],
        { env: { ...process.env, KILL_AT_WRITE: '20' }, stdio: ['ignore', 'inherit', 'inherit'] },
      );
      const [, signal] = await once(child, 'exit');
      expect(signal).toBe('SIGKILL');
      expect(before.appliedSeq).toBe(half);
      // A look at a copy: whoever closes the file itself takes its log away, which is taken for damage.
      await cp(dir, join(folder.path, 'copy'), { recursive: true });
      expect(fileOf(join(folder.path, 'copy'))).toEqual({ digests: before.digests, appliedSeq: half });
      const after = await level(dir);
      expect(after).toMatchObject({ appliedSeq: entries.length, rebuilt: null });
      expect(after.digests).toEqual((await level(join(folder.path, 'rebuilt'))).digests);
      expect(after.digests).not.toEqual(before.digests);
    } finally {
      await folder.remove();
    }
  },
);
