import type { Violation } from './checker.ts';
import { commitsOf } from './fold.ts';
import type { RawMessage } from './read-stream.ts';

/** What holds for every commit of a stream: stored once, under its own id and subject, time never running back. */
export function checkCommits(stream: string, messages: readonly RawMessage[]): Violation[] {
  const out: Violation[] = [];
  const seen = new Map<string, number>();
  const times = new Map<string, string>();
  const messageIds = new Map(messages.map(({ streamSeq, headers }) => [streamSeq, headers['Nats-Msg-Id']]));
  let lastSeq = 0;
  for (const { streamSeq, subject, id, at, events } of commitsOf(messages)) {
    const add = (rule: string, detail: string) => out.push({ rule, detail: `${stream} ${streamSeq} ${detail}` });
    if (streamSeq <= lastSeq) add('stream-order', `comes after ${lastSeq}`);
    lastSeq = streamSeq;
    const first = seen.get(id);
    if (first !== undefined) add('commit-once', `is ${id} again, stored at ${first}`);
    else seen.set(id, streamSeq);
    if (messageIds.get(streamSeq) !== id) add('commit-id', `has the message id ${messageIds.get(streamSeq)}`);
    if (!id.startsWith(`${subject}/`)) add('commit-id', `on ${subject} is called ${id}`);
    const previous = times.get(subject);
    if (previous !== undefined && at < previous) add('time', `is before ${previous}`);
    times.set(subject, at);
    if (events.length === 0 || events.length > 1024) add('commit-size', `has ${events.length} events`);
  }
  return out;
}
