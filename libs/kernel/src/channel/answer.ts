/** A settled run of a delivery, ready to be told to the outside. */
export interface ChannelAnswer {
  deliveryId: string;
  threadId: string;
  turnId: string;
  runId: string;
  status: string;
  reasonCode: string | null;
  /** The run's last message of the assistant, '' where it wrote none. */
  text: string;
}

/** Key that the receiver drops repetitions by. */
export function answerIdempotencyKey(runId: string): string {
  return `answer-${runId}`;
}

/** The JSON body of an answer: the same bytes each time, so members stand in a fixed order. */
export function answerBody(answer: ChannelAnswer): string {
  const { deliveryId, threadId, turnId, runId, status, reasonCode, text } = answer;
  const reason = reasonCode === null ? {} : { reasonCode };
  return JSON.stringify({ deliveryId, threadId, turnId, runId, status, ...reason, text });
}
