import { type Commit, type CommitEvent, commitId } from '@rookery/protocol';

/** A commit as a service would write it, for tests of the journal itself. */
export function commitOf(
  subject: string,
  commandId: string,
  options: { n?: number; events?: CommitEvent[]; at?: string } = {},
): Commit {
  return {
    v: 1,
    id: commitId(subject, commandId, options.n ?? 0),
    cause: commandId,
    at: options.at ?? '2026-01-01T00:00:00.000Z',
    by: 'test/host-0-boot',
    agentId: 'main',
    events: options.events ?? [{ type: 'canary.written', payload: {} }],
  };
}
