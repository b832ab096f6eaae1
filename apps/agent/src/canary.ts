import { COMMIT_VERSION, commitId, commitTime, formatSubject, writerName } from '@rookery/protocol';
import type { AgentDeps } from './deps.ts';

/** After a failed append: a commit on its own subject each `canaryMs` until one is acknowledged, as a proof of life. */
export function startCanary(deps: AgentDeps): { stop(): void } {
  const subject = formatSubject({ kind: 'canary' });
  let count = 0;
  let busy = false;
  const look = async () => {
    if (busy || deps.journal.failedSince() === null) return;
    busy = true;
    try {
      const last = await deps.journal.readLast(subject);
      const id = `canary-${deps.instance}-${count}`;
      count += 1;
      await deps.journal.append({
        subject,
        expected: last?.streamSeq ?? 0,
        commit: {
          v: COMMIT_VERSION,
          id: commitId(subject, id, 0),
          cause: id,
          at: commitTime(new Date(), last?.commit.at ?? null),
          by: writerName('agent', deps.instance),
          agentId: 'main',
          events: [{ type: 'canary.written', payload: {} }],
        },
      });
    } catch {
      // Still away: `failedSince` says so, and the next look tries again.
    } finally {
      busy = false;
    }
  };
  const timer = setInterval(() => void look(), deps.timings.canaryMs);
  return { stop: () => clearInterval(timer) };
}
