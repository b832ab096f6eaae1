import type { RpcMethod, rpcParams } from '@rookery/protocol';
import type { DiscoveredModel, Model, ProcessPage, Provider, Thread, TurnView, WireEvent } from './types.ts';

interface PageInfo {
  nextCursor: string | null;
  hasMore: boolean;
  snapshotSeq: number;
}
interface ThreadChange {
  thread: Thread;
  changed: boolean;
}

/** The methods that the page calls, with their results; the parameters are those of the protocol. */
export interface Results {
  initialize: {
    protocolVersion: number;
    server: { name: string; version: string };
    journalId?: string;
  };
  'thread.create': { thread: Thread };
  'thread.rename': ThreadChange;
  'thread.archive': ThreadChange;
  'thread.unarchive': ThreadChange;
  'thread.get': { thread: Thread; snapshotSeq: number };
  'thread.list': PageInfo & { threads: Thread[] };
  'turn.start': { threadId: string; branchId: string; turnId: string; runId: string };
  'turn.list': PageInfo & { turns: TurnView[] };
  'run.cancel': { accepted: boolean; runId: string; status: string };
  'run.steer': { accepted: boolean; runId: string; clientRequestId: string; status: string };
  'event.replay': { events: WireEvent[]; latestSeq: number; nextAfterSeq: number; hasMore: boolean };
  'provider.list': { providers: Provider[] };
  'provider.configure': { provider: Provider };
  'provider.discover_models': { models: DiscoveredModel[] };
  'provider.disconnect': { provider: Provider };
  'provider.remove': { removed: boolean; providerId: string };
  'model.list': { models: Model[] };
  'model.set_enabled': { model: Model };
  'process.read': ProcessPage;
  'process.stop': ProcessPage;
}

export type Method = keyof Results & RpcMethod;
/** Parameters as they are sent, before the server fills in defaults. */
export type Params<M extends Method> = (typeof rpcParams)[M]['_zod']['input'];
export type Result<M extends Method> = Results[M];

export type TurnStartParams = Params<'turn.start'> & { clientRequestId: string };
export type ProviderInput = Params<'provider.configure'>;
export type DiscoverInput = Params<'provider.discover_models'>;
