import { type EventPayload, type Item, isBlobRef, parseSubject, type StoredCommit, sha256Hex } from '@rookery/protocol';
import { defineProjection, type Write } from './projection.ts';

const ddl = [
  `CREATE TABLE source_items (
    item_id TEXT NOT NULL PRIMARY KEY,
    world TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    content_sha256 TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
];

// The name of a blob is the digest of its text.
const contentSha256 = ({ content }: Item): string => (isBlobRef(content) ? content.blob : sha256Hex(String(content)));

function project({ subject, commit }: StoredCommit): Write[] {
  const place = parseSubject(subject);
  if (place?.kind !== 'turns' && place?.kind !== 'run') return [];
  return commit.events
    .filter((event) => event.type === 'item.completed')
    .map((event) => {
      const { item } = event.payload as EventPayload<'item.completed'>;
      return {
        table: 'source_items',
        op: 'upsert',
        key: { item_id: item.id },
        set: {
          world: place.world,
          agent_id: commit.agentId,
          thread_id: place.threadId,
          turn_id: item.turnId,
          content_sha256: contentSha256(item),
        },
      };
    });
}

/** Which items of the conversation a memory may cite: ids and digests of everything completed, from stream JOURNAL. */
export const memorySourcesProjection = defineProjection({ name: 'memory-sources', revision: 1, ddl, project });
