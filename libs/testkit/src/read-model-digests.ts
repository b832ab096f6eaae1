import { join } from 'node:path';
import { channelsProjection, conversationProjection, memoryProjection, type Projection } from '@rookery/kernel';
import { JOURNAL, MEMORY } from '@rookery/protocol';
import { currentFile, digest, openDatabase, openReadModel } from '@rookery/read-model';
import { bundleFolder } from './bundles.ts';
import { eventually } from './eventually.ts';
import type { DigestPair } from './history/checker.ts';
import type { TestNats } from './nats.ts';
import { temporaryFolder } from './temporary-folder.ts';

interface Source {
  name: string;
  /** Its file below the home. */
  file: string;
  user: string;
  stream: string;
  projection: Projection;
}

const sources: readonly Source[] = [
  { name: 'gateway', file: 'gateway/0/state.db', user: 'gateway', stream: JOURNAL, projection: conversationProjection },
  { name: 'agent', file: 'agent/0/agent.db', user: 'agent', stream: JOURNAL, projection: conversationProjection },
  {
    name: 'channels',
    file: 'channels/0/channels.db',
    user: 'channels',
    stream: JOURNAL,
    projection: channelsProjection,
  },
  { name: 'memory', file: 'memory/0/memory.db', user: 'memory', stream: MEMORY, projection: memoryProjection },
];

function digestOf(path: string): Record<string, string> {
  const db = openDatabase(path, { synchronous: 'NORMAL', readonly: true });
  try {
    return digest(db);
  } finally {
    db.close();
  }
}

/**
 * Digests of the read models of a home that runs and of ones made anew from its journal. A read model that is behind
 * is waited for.
 */
export async function readModelDigests(
  home: string,
  nats: Pick<TestNats, 'url' | 'seed'>,
  services: readonly string[],
): Promise<DigestPair[]> {
  const out: DigestPair[] = [];
  for (const { name, file, user, stream, projection } of sources) {
    if (!services.includes(name)) continue;
    const folder = await temporaryFolder('rebuild');
    const model = await openReadModel<unknown>({
      dir: folder.path,
      projection,
      stream,
      workerEntry: join(bundleFolder(false), 'projector-worker.mjs'),
      connection: { url: nats.url, user, seed: nats.seed(user), name: 'testkit rebuild' },
    });
    try {
      await model.level();
      // Both go on following the journal, in which the end of a command may still arrive.
      const look = () => ({
        name,
        live: digestOf(currentFile(join(home, file))),
        rebuilt: digestOf(join(folder.path, 'state.db')),
      });
      const same = ({ live, rebuilt }: DigestPair) => JSON.stringify(live) === JSON.stringify(rebuilt);
      let pair = look();
      const level = () => {
        pair = look();
        return same(pair);
      };
      await eventually('the read model to be level', level, { everyMs: 100 }).catch(() => {});
      out.push(pair);
    } finally {
      await model.stop();
      await folder.remove();
    }
  }
  return out;
}
