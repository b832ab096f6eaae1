import { decideFinishDelivery, decideRefusedDelivery, type PostVerdict } from '@rookery/kernel';
import { type CommitEvent, commandIdOf, commitId, type ErrorCode, formatSubject, writerName } from '@rookery/protocol';
import type { Attempt } from '@rookery/read-model';
import type { ChannelPorts } from './channel-ports.ts';
import type { Db } from './model.ts';
import { type DueAnswer, isOpenDelivery, loadOutboxStatus, WEBHOOK } from './views.ts';

type Closed = Pick<DueAnswer, 'world' | 'agentId' | 'account' | 'chat' | 'threadId' | 'runId'>;

/**
 * Stores that an answer was accepted or refused, once, and waits until the read model has it: until then it would look
 * due. What append throws.
 */
export function finishDelivery(
  ports: ChannelPorts,
  answer: Closed,
  verdict: Exclude<PostVerdict, { kind: 'retry' }>,
  attempts: number,
): Promise<void> {
  const { runId } = answer;
  const errorCode = verdict.kind === 'failed' ? verdict.errorCode : null;
  return close(ports, answer, (db) =>
    decideFinishDelivery(loadOutboxStatus(db, runId), {
      ...{ runId, status: verdict.kind, attempts, errorCode },
      finishedAt: ports.now().toISOString(),
    }),
  );
}

/** Stores that no agent will ever make a turn of a delivery, with the code of the refusal. What append throws. */
export function refuseDelivery(
  ports: ChannelPorts,
  delivery: Closed,
  errorCode: ErrorCode,
  attempts: number,
): Promise<void> {
  const { runId } = delivery;
  return close(ports, delivery, (db) =>
    decideRefusedDelivery(isOpenDelivery(db, runId), {
      ...{ runId, status: 'failed', attempts, errorCode },
      finishedAt: ports.now().toISOString(),
    }),
  );
}

async function close(ports: ChannelPorts, of: Closed, decide: (db: Db) => CommitEvent | null): Promise<void> {
  const { world, agentId, account, chat, threadId, runId } = of;
  const subject = formatSubject({ kind: 'channel', world, channel: WEBHOOK, account, chat });
  const cause = commandIdOf(ports.homeId, 'channel.finish', account, runId);
  const seq = await ports.append(subject, threadId, (db): Attempt<number | null> => {
    const event = decide(db);
    if (event === null) return { kind: 'done', result: null };
    const commit = {
      id: commitId(subject, cause, 0),
      cause,
      by: writerName('channels', ports.instance),
      agentId,
      events: [event],
    };
    return { kind: 'append', commit, stored: (streamSeq) => streamSeq };
  });
  if (seq !== null) await ports.model.waitFor(seq, ports.timings.conflictWaitMs);
}
