import type { CommandHandler } from '@rookery/bus';
import type { Journal } from '@rookery/journal';
import {
  decideCorrectMemory,
  decideCreateMemory,
  isRefusal,
  type MemoryDecision,
  memoryParamsSha256,
} from '@rookery/kernel';
import {
  AppError,
  type CommandRequest,
  commandIdOf,
  commitId,
  formatSubject,
  isSubjectToken,
  memoryIdOf,
  type RpcParams,
  seqOf,
  writerName,
} from '@rookery/protocol';
import { type Attempt, appendDecided } from '@rookery/read-model';
import { faultPoint } from '@rookery/service';
import type { Db, Model } from './model.ts';
import { parseParams } from './parameters.ts';
import type { ProtectedValues } from './protected-values.ts';
import type { Sources } from './sources.ts';
import { loadMemory, type MemoryView, type Owner } from './views.ts';

export interface CommandPorts {
  homeId: string;
  instance: string;
  journal: Journal;
  model: Model;
  sources: Sources;
  secrets: ProtectedValues;
  conflictWaitMs: number;
  now(): Date;
}

interface MemoryResult {
  memoryId: string;
  resultingRevision: number;
  /** True where this call wrote, false where it repeats an earlier one. */
  created: boolean;
}

type Method = 'memory.create' | 'memory.correct';
type Reply = { result: MemoryResult; seq?: number };

/** Position of the memory event in its commit: the request stands before it. */
const MEMORY_EVENT = 1;

interface Change {
  method: Method;
  owner: Owner;
  memoryId: string;
  params: RpcParams<Method>;
  decide(view: MemoryView): MemoryDecision;
}

async function change(ports: CommandPorts, { method, owner, memoryId, params, decide }: Change): Promise<Reply> {
  const subject = formatSubject({ kind: 'memory', ...owner, memoryId });
  // With the parameters in it, a commit of this id can only be this request's own.
  const scope = `${memoryId}:${memoryParamsSha256(params)}`;
  const cause = commandIdOf(ports.homeId, method, scope, params.clientRequestId);
  const attempt = (db: Db): Attempt<Reply> => {
    const decision = decide(loadMemory(db, owner, memoryId, params.clientRequestId));
    if (isRefusal(decision)) return decision;
    const result = (created: boolean): MemoryResult => ({ memoryId, resultingRevision: decision.revision, created });
    if (decision.kind === 'replay') return { kind: 'done', result: { result: result(false) } };
    faultPoint('memory:before-append');
    return {
      kind: 'append',
      commit: {
        id: commitId(subject, cause, 0),
        cause,
        by: writerName('memory', ports.instance),
        agentId: owner.agentId,
        events: decision.events,
      },
      stored: (streamSeq, _commit, duplicate) => {
        faultPoint('memory:after-append');
        return { result: result(!duplicate), seq: seqOf(streamSeq, MEMORY_EVENT) };
      },
    };
  };
  return await appendDecided({ ...ports, subject }, attempt);
}

const ownerOf = ({ world, agentId }: CommandRequest): Owner => ({ world, agentId });

/** Handlers of the commands that write memories. */
export function memoryCommands(ports: CommandPorts): Record<Method, CommandHandler> {
  return {
    'memory.create': async (request) => {
      const params = parseParams('memory.create', request.params);
      await ports.secrets.refuse(params);
      const owner = ownerOf(request);
      const memoryId = memoryIdOf(ports.homeId, owner.agentId, params.clientRequestId);
      const source = params.source === undefined ? null : await ports.sources.find(owner, params.source.itemId);
      return await change(ports, {
        method: 'memory.create',
        owner,
        memoryId,
        params,
        decide: ({ state, usedElsewhere }) => decideCreateMemory(state, { memoryId, params, source, usedElsewhere }),
      });
    },
    'memory.correct': async (request) => {
      const params = parseParams('memory.correct', request.params);
      await ports.secrets.refuse(params);
      if (!isSubjectToken(params.memoryId)) throw new AppError('MEMORY_NOT_FOUND');
      return await change(ports, {
        method: 'memory.correct',
        owner: ownerOf(request),
        memoryId: params.memoryId,
        params,
        decide: ({ state, usedElsewhere }) => decideCorrectMemory(state, { params, usedElsewhere }),
      });
    },
  };
}
