import { contentRefusal, decideSubmit } from '@rookery/kernel';
import {
  AppError,
  type Authorization,
  type CommandRequest,
  canonicalSha256,
  formatSubject,
  type RunConfig,
  rpcParams,
  seqOf,
  turnIdsOf,
} from '@rookery/protocol';
import { decideAndAppend, level } from '../append-decided.ts';
import type { AgentDeps } from '../deps.ts';
import { identityCore } from '../identity.ts';
import { knownSubmission, type LeftSteer, runConfigOf, threadState } from '../queries.ts';
import { checkParams } from './params.ts';

interface Submission {
  threadId: string;
  branchId: string;
  content: string;
  providerId: string;
  modelId: string;
  clientRequestId: string;
}

interface About extends Pick<CommandRequest, 'commandId' | 'agentId' | 'world'> {
  authorization: Authorization | null;
}

/** Submits a turn once for its client request; the answer is the same at any time. */
export async function submitTurn(
  deps: AgentDeps,
  submission: Submission,
  about: About,
): Promise<{ result: unknown; seq?: number }> {
  const { threadId, branchId, content, providerId, modelId, clientRequestId } = submission;
  const { world, agentId, commandId } = about;
  const ids = turnIdsOf(deps.homeId, threadId, clientRequestId);
  const result = { threadId, branchId, turnId: ids.turnId, runId: ids.runId };
  const paramsSha256 = canonicalSha256({ threadId, branchId, content, providerId, modelId });
  const known = deps.model.read((db) => knownSubmission(db, threadId, clientRequestId));
  if (known !== null) {
    if (known.paramsSha256 !== paramsSha256) throw new AppError('IDEMPOTENCY_CONFLICT');
    return { result };
  }
  const refusal = contentRefusal(content);
  if (refusal !== null) throw new AppError(refusal.refused, { details: refusal.details ?? {} });
  const low = deps.storage.refusal();
  if (low !== null) throw low;
  let thread = deps.model.read((db) => threadState(db, world, threadId));
  if (thread === null) {
    await level(deps);
    thread = deps.model.read((db) => threadState(db, world, threadId));
  }
  if (thread === null) throw new AppError('THREAD_NOT_FOUND');
  const model = await deps.models.choose(providerId, modelId);
  const tools = model.supportsTools ? (await deps.tools.catalog()).definitions : [];
  const runConfig: RunConfig = {
    userItemId: ids.userItemId,
    threadId,
    branchId,
    turnId: ids.turnId,
    runId: ids.runId,
    workspace: thread.thread.workspace,
    providerId,
    modelId,
    publicProviderConfigFingerprint: model.fingerprint,
    executionPolicy: 'full_access',
    skills: [],
    tools,
    instructions: { outputStyle: null, identityCore, skillCatalog: null },
    contextWindow: model.contextWindow,
  };
  const decided = await decideAndAppend(
    deps,
    {
      subject: formatSubject({ kind: 'turns', world, threadId }),
      threadId,
      agentId,
      commandId,
      scope: { branchId, turnId: ids.turnId, runId: ids.runId },
    },
    (db, now) =>
      decideSubmit(threadState(db, world, threadId), knownSubmission(db, threadId, clientRequestId), {
        command: { method: 'turn.start', clientRequestId, paramsSha256 },
        ids,
        branchId,
        content,
        runConfig,
        authorization: about.authorization,
        now,
      }),
  );
  if ('unchanged' in decided) return { result };
  const { streamSeq, commit } = decided.stored;
  return { result, seq: seqOf(streamSeq, commit.events.length - 1) };
}

/** turn.start */
export function startTurn(deps: AgentDeps, request: CommandRequest): Promise<{ result: unknown; seq?: number }> {
  const params = checkParams(rpcParams['turn.start'], request.params);
  const clientRequestId = params.clientRequestId ?? `command:${request.commandId}`;
  const { authorization = null } = request;
  return submitTurn(deps, { ...params, clientRequestId }, { ...request, authorization });
}

/** A steer that no model call has seen becomes a turn of its own, with an id derived from run and steer. */
export async function submitLeftSteer(deps: AgentDeps, steer: LeftSteer): Promise<void> {
  const config = deps.model.read((db) => runConfigOf(db, steer.runId));
  if (config === null) return;
  const content =
    steer.contentBlob === null
      ? steer.content
      : ((await deps.blobs.get(steer.threadId, steer.contentBlob)) ?? steer.content);
  const { threadId, branchId, world, agentId, followUpRequestId } = steer;
  const { providerId, modelId } = config;
  try {
    await submitTurn(
      deps,
      { threadId, branchId, content, providerId, modelId, clientRequestId: followUpRequestId },
      { commandId: canonicalSha256(followUpRequestId).slice(0, 32), agentId, world, authorization: null },
    );
  } catch (error) {
    // An archived thread or a model that is gone keeps the steer where it is: shown as unprocessed, tried at each sweep.
    if (!(error instanceof AppError)) throw error;
    deps.log.info({ code: error.code, runId: steer.runId }, 'steer waits for its turn');
  }
}
