import type { CommandHandler } from '@rookery/bus';
import type { Journal } from '@rookery/journal';
import { AppError } from '@rookery/protocol';
import type { Model } from './model.ts';
import { parseParams } from './parameters.ts';
import { getMemory, getSource, listMemories, type StoredSource } from './queries.ts';
import type { Sources } from './sources.ts';
import type { Owner } from './views.ts';

export interface QueryPorts {
  journal: Journal;
  model: Model;
  sources: Sources;
  /** How long an answer waits for what is in the stream already, milliseconds. */
  levelWaitMs: number;
}

type Provenance = StoredSource & { status: 'not_applicable' | 'available' | 'unavailable' };

/** Handlers of the commands that read memories. Every write that was acknowledged, by any instance, shows in the answer. */
export function memoryQueries(ports: QueryPorts): Record<'memory.list' | 'memory.get', CommandHandler> {
  const { journal, model, sources, levelWaitMs } = ports;
  const level = async (): Promise<void> => {
    const { lastSeq } = await journal.info();
    await model.waitFor(lastSeq, levelWaitMs);
  };
  const provenance = async (owner: Owner, source: StoredSource): Promise<Provenance> => {
    if (source.itemId === null) return { ...source, status: 'not_applicable' };
    const found = await sources.find(owner, source.itemId);
    return { ...source, status: found === null ? 'unavailable' : 'available' };
  };
  return {
    'memory.list': async ({ world, agentId, params }) => {
      const checked = parseParams('memory.list', params);
      await level();
      return { result: model.read((db) => listMemories(db, { world, agentId }, checked)) };
    },
    'memory.get': async ({ world, agentId, params }) => {
      const { memoryId } = parseParams('memory.get', params);
      const owner = { world, agentId };
      await level();
      const found = model.read((db) => ({
        memory: getMemory(db, owner, memoryId),
        source: getSource(db, owner, memoryId),
      }));
      if (found.memory === null) throw new AppError('MEMORY_NOT_FOUND');
      return { result: { memory: { ...found.memory, provenance: await provenance(owner, found.source) } } };
    },
  };
}
