import type { BlobStore } from '@rookery/bus';
import { hasBlobs, inlineBlobs, type Journal } from '@rookery/journal';
import type { ConversationTables } from '@rookery/kernel';
import { type StoredCommit, threadFilter } from '@rookery/protocol';
import type { ReadModel } from '@rookery/read-model';
import type { CommitSource } from './commit-source.ts';

/** Commits of the journal as this gateway's read model has accepted them. */
export function journalSource(ports: {
  journal: Journal;
  blobs: BlobStore;
  model: ReadModel<ConversationTables>;
  world: () => string;
}): CommitSource {
  const { journal, blobs, model } = ports;
  let known = { count: 0, from: new Map<string, number>() };

  const quarantine = (): Map<string, number> => {
    const count = model.stats().quarantined;
    if (count !== known.count) {
      try {
        const rows = model.read((reader) =>
          reader.prepare<[], { scope: string; stream_seq: number }>('SELECT scope, stream_seq FROM quarantine').all(),
        );
        known = { count, from: new Map(rows.map((row) => [row.scope, row.stream_seq])) };
      } catch {
        // The file is being built anew. What was known holds until the next look.
      }
    }
    return known.from;
  };

  return {
    get world() {
      return ports.world();
    },
    readPage: (query) => journal.readPage(query),
    isQuarantined(threadId, streamSeq) {
      const damaged = quarantine();
      return (
        damaged.size > 0 &&
        streamSeq >= (damaged.get(threadFilter(ports.world(), threadId)) ?? Number.POSITIVE_INFINITY)
      );
    },
    hasBlobs: (stored) => stored.commit.events.some((event) => hasBlobs(event.payload)),
    async inline(stored, threadId): Promise<StoredCommit> {
      return { ...stored, commit: await inlineBlobs(stored.commit, blobs, threadId) };
    },
  };
}
