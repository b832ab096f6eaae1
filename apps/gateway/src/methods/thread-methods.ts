import { randomUUID } from 'node:crypto';
import { type BlobStore, type ConfigView, signAuthorization } from '@rookery/bus';
import { inlineBlobs } from '@rookery/journal';
import { AppError } from '@rookery/protocol';
import type { ReplayRequest } from '../events/replay.ts';
import { isEndOfProcess, requireProcessOwner, storedProcess, storedProcessView } from '../queries/processes.ts';
import { getThread, listThreads } from '../queries/threads.ts';
import { listTurns, presentTurns } from '../queries/turns.ts';
import { readAt, type View } from '../queries/view.ts';
import type { RpcCall } from '../rpc/call.ts';
import type { Handlers } from '../rpc/dispatcher.ts';
import type { RawJson } from '../rpc/response.ts';
import type { CommandSender } from './command-sender.ts';

export interface ThreadPorts {
  sender: CommandSender;
  view: View;
  blobs: BlobStore;
  settings: ConfigView;
  nkeySeed: string;
  runner: string;
  replay: (request: ReplayRequest) => Promise<RawJson>;
}

type ThreadMethod =
  | `thread.${'create' | 'rename' | 'archive' | 'unarchive' | 'get' | 'list'}`
  | `turn.${'start' | 'list'}`
  | `run.${'cancel' | 'steer'}`
  | `event.${'replay' | 'subscribe'}`
  | `process.${'read' | 'stop'}`;

const WITH_PREVIOUS = 13;

/** Threads, turns, runs, their events and processes. */
export function threadMethods(ports: ThreadPorts): Pick<Handlers, ThreadMethod> {
  const { sender, view, settings } = ports;
  const agent = 'agent' as const;
  const process = async (
    method: string,
    params: { threadId: string; processId: string; cursor?: number | undefined },
    call: RpcCall,
  ): Promise<unknown> => {
    const { threadId, processId, cursor = 0 } = params;
    const stored = view.model.read((reader) => {
      requireProcessOwner(reader, { world: view.world(), threadId });
      return storedProcess(reader, threadId, processId);
    });
    const hasEnded = stored !== null && isEndOfProcess(stored);
    const command = { service: 'tool', instance: ports.runner, method, params } as const;
    try {
      // Of what has ended the journal knows enough: nobody waits for a runner that is away.
      return await sender.send(hasEnded ? { ...command, patienceMs: 0 } : command, call);
    } catch (error) {
      const code = error instanceof AppError ? error.code : null;
      if (hasEnded && (code === 'SERVICE_UNAVAILABLE' || code === 'PROCESS_NOT_FOUND')) {
        return storedProcessView(stored, cursor);
      }
      if (code === 'SERVICE_UNAVAILABLE') {
        throw new AppError('RUNNER_UNAVAILABLE', { cause: error, details: { runner: ports.runner } });
      }
      throw error;
    }
  };

  return {
    'thread.create': (params, call) =>
      sender.send(
        {
          service: agent,
          method: 'thread.create',
          params,
          request: { scope: '', clientRequestId: params.clientRequestId },
        },
        call,
      ),
    'thread.rename': (params, call) => sender.send({ service: agent, method: 'thread.rename', params }, call),
    'thread.archive': (params, call) => sender.send({ service: agent, method: 'thread.archive', params }, call),
    'thread.unarchive': (params, call) => sender.send({ service: agent, method: 'thread.unarchive', params }, call),
    'thread.get': (params, call) =>
      readAt(view, call.seen, (reader) => getThread(reader, view.world(), params.threadId)),
    'thread.list': (params, call) => readAt(view, call.seen, (reader) => listThreads(reader, view.world(), params)),
    'turn.start': async (params, call) => {
      const { threadId, clientRequestId = randomUUID() } = params;
      const profileId = settings.get('permissions').defaultProfile;
      const authorization = signAuthorization(ports.nkeySeed, { threadId, clientRequestId, profileId });
      const request = { scope: threadId, clientRequestId };
      return await sender.send(
        { service: agent, method: 'turn.start', params: { ...params, clientRequestId }, request, authorization },
        call,
      );
    },
    'turn.list': async (params, call) => {
      const page = await readAt(view, call.seen, (reader) => listTurns(reader, view.world(), params));
      const turns = await inlineBlobs(page.turns, ports.blobs, params.threadId);
      return { ...page, turns: presentTurns(turns) };
    },
    'run.cancel': (params, call) => sender.send({ service: agent, method: 'run.cancel', params }, call),
    'run.steer': (params, call) =>
      sender.send(
        {
          service: agent,
          method: 'run.steer',
          params,
          request: { scope: params.runId, clientRequestId: params.clientRequestId },
        },
        call,
      ),
    'event.replay': ({ afterSeq, limit, filter }, call) =>
      ports.replay({ afterSeq, limit, filter: filter ?? null, linked: call.protocol >= WITH_PREVIOUS }),
    'event.subscribe': async ({ filter }, call) => ({
      filter,
      // Nothing live comes over a stateless request; it learns where its filter stands.
      latestSeq: await (call.subscription?.change(filter) ?? Promise.resolve(view.hub.latestSeq)),
    }),
    'process.read': (params, call) => process('process.read', params, call),
    'process.stop': (params, call) => process('process.stop', params, call),
  };
}
