import { uuid5Hex } from './canonical.ts';

/** The RFC 9562 namespace for URLs. */
const URL_NAMESPACE = '6ba7b811-9dad-11d1-80b4-00c04fd430c8';

/** threadId of a creation request; the same request meets the same thread at any time in any instance. */
export function threadIdOf(homeId: string, clientRequestId: string): string {
  return `thread_${uuid5Hex(homeId, `thread:${clientRequestId}`)}`;
}

/** Default branch of a thread. */
export function branchIdOf(homeId: string, threadId: string): string {
  return `branch_${uuid5Hex(homeId, `branch:${threadId}`)}`;
}

export interface TurnIds {
  turnId: string;
  runId: string;
  userItemId: string;
}

/** Ids that a submission gets, derived from its thread and client request. */
export function turnIdsOf(homeId: string, threadId: string, clientRequestId: string): TurnIds {
  const of = (kind: string) => `${kind}_${uuid5Hex(homeId, `${kind}:${threadId}:${clientRequestId}`)}`;
  return { turnId: of('turn'), runId: of('run'), userItemId: of('item') };
}

/** Id of the item that a run adds at an ordinal (the user item is ordinal 1). */
export function runItemIdOf(homeId: string, runId: string, ordinal: number): string {
  return `item_${uuid5Hex(homeId, `item:${runId}:${ordinal}`)}`;
}

/** Id of the item of a steer request; the same request meets the same item. */
export function steerItemIdOf(homeId: string, runId: string, clientRequestId: string): string {
  return `item_${uuid5Hex(homeId, `steer:${runId}:${clientRequestId}`)}`;
}

/** clientRequestId of the turn made from a steer that no model call has seen. */
export function steerFollowUpRequestId(runId: string, steerItemId: string): string {
  return `steer:${runId}:${steerItemId}`;
}

/** processId of a command, by the seed's known rule. */
export function processIdOf(runId: string, itemId: string): string {
  return `process_${uuid5Hex(URL_NAMESPACE, `ikaros:${runId}:${itemId}`)}`;
}

/** Id of a workspace folder, the same for the same folder of the same runner. */
export function workspaceIdOf(homeId: string, rootUri: string): string {
  return `workspace_${uuid5Hex(homeId, `workspace:${rootUri}`)}`;
}

/** memoryId of a creation request, unique to the agent that owns it. */
export function memoryIdOf(homeId: string, agentId: string, clientRequestId: string): string {
  return `memory_${uuid5Hex(homeId, `${agentId}:${clientRequestId}`)}`;
}

/** Id of a command: stable where the client names its request, so that a retry has the same cause. */
export function commandIdOf(homeId: string, method: string, scope: string, clientRequestId: string): string {
  return uuid5Hex(homeId, `command:${method}:${scope}:${clientRequestId}`);
}

/** Suffix of a thread's managed folder. */
export function threadSuffix(threadId: string): string {
  return threadId.slice(-8);
}
