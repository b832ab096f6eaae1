import type { CommitEvent, EventPayload } from '@rookery/protocol';
import { answerIdempotencyKey } from './answer.ts';

/** State of an answer in the outbox. */
export type OutboxStatus = 'waiting' | 'pending' | 'sent' | 'failed';

export interface FinishDelivery {
  runId: string;
  status: 'sent' | 'failed';
  /** Attempts of the process that saw the end; what an earlier one tried died with it. */
  attempts: number;
  errorCode: string | null;
  /** ISO 8601 with milliseconds. */
  finishedAt: string;
}

/** The event that closes an answer; null where it is closed already, or where there is none to close. */
export function decideFinishDelivery(status: OutboxStatus | null, command: FinishDelivery): CommitEvent | null {
  return status === 'pending' ? finished(command) : null;
}

/** The event that closes a delivery that no agent will ever take; null where it is not open any more. */
export function decideRefusedDelivery(isOpen: boolean, command: FinishDelivery): CommitEvent | null {
  return isOpen ? finished(command) : null;
}

function finished(command: FinishDelivery): CommitEvent {
  const payload: EventPayload<'channel.delivery_finished'> = {
    runId: command.runId,
    idempotencyKey: answerIdempotencyKey(command.runId),
    status: command.status,
    attempts: command.attempts,
    errorCode: command.errorCode,
    finishedAt: command.finishedAt,
  };
  return { type: 'channel.delivery_finished', payload };
}
