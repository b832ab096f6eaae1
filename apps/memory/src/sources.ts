import { existsSync } from 'node:fs';
import type { MemorySource } from '@rookery/kernel';
import type { Model } from './model.ts';
import type { Owner } from './views.ts';

/** Finds the items of the conversation that memories cite. */
export interface Sources {
  /** The item of the agent's own conversation, null where there is none (yet completed). */
  find(owner: Owner, itemId: string): Promise<MemorySource | null>;
  stop(): Promise<void>;
}

export interface SourcePorts {
  /** Folder of the read model; where it is there, items were cited before. */
  folder: string;
  open(): Promise<Model>;
  /** Last sequence of the journal now. */
  lastSeq(): Promise<number>;
  /** How long an unknown item waits for the read model to be level, milliseconds. */
  waitMs: number;
}

function look(model: Model, { world, agentId }: Owner, itemId: string): MemorySource | null {
  const sql = `SELECT thread_id AS threadId, turn_id AS turnId, item_id AS itemId, content_sha256 AS itemSha256
    FROM source_items WHERE item_id = ? AND world = ? AND agent_id = ?`;
  const row = model.read((db) => db.prepare<string[], MemorySource>(sql).get(itemId, world, agentId));
  return row ?? null;
}

/**
 * Sources over a read model of the journal that is opened when a memory first cites an item, and from then on at every
 * start: most homes never do, and following the whole journal costs a thread and a file.
 */
export function openSources({ folder, open, lastSeq, waitMs }: SourcePorts): Sources {
  let opened: Promise<Model> | null = null;
  const model = (): Promise<Model> => {
    opened ??= open().catch((error: unknown) => {
      opened = null;
      throw error;
    });
    return opened;
  };
  // A failure shows to whoever asks first.
  if (existsSync(folder)) model().catch(() => undefined);
  return {
    async find(owner, itemId) {
      const from = await model();
      const found = look(from, owner, itemId);
      if (found !== null) return found;
      await from.waitFor(await lastSeq(), waitMs);
      return look(from, owner, itemId);
    },
    async stop() {
      const from = await opened?.catch(() => null);
      await from?.stop();
    },
  };
}
