import { decideFinishDelivery, type PostVerdict } from '@rookery/kernel';
import { commandIdOf, commitId, formatSubject, writerName } from '@rookery/protocol';
import type { Attempt } from '@rookery/read-model';
import type { ChannelPorts } from './channel-ports.ts';
import { type DueAnswer, loadOutboxStatus, WEBHOOK } from './views.ts';

/**
 * Stores that an answer was accepted or refused, once, and waits until the read model has it: until then it would look
 * due. What append throws.
 */
export async function finishDelivery(
  ports: ChannelPorts,
  answer: Pick<DueAnswer, 'world' | 'agentId' | 'account' | 'chat' | 'threadId' | 'runId'>,
  verdict: Exclude<PostVerdict, { kind: 'retry' }>,
  attempts: number,
): Promise<void> {
  const { world, agentId, account, chat, threadId, runId } = answer;
  const subject = formatSubject({ kind: 'channel', world, channel: WEBHOOK, account, chat });
  const cause = commandIdOf(ports.homeId, 'channel.finish', account, runId);
  const seq = await ports.append(subject, threadId, (db): Attempt<number | null> => {
    const event = decideFinishDelivery(loadOutboxStatus(db, runId), {
      runId,
      status: verdict.kind,
      attempts,
      errorCode: verdict.kind === 'failed' ? verdict.errorCode : null,
      finishedAt: ports.now().toISOString(),
    });
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
